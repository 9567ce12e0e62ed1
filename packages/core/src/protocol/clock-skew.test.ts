import { expect, it } from "vitest";
import { checkClock } from "./clock-skew.js";

it.each([
  [null, null],
  [30_000, null],
  [-30_000, null],
  [30_500, "the clock of r1 is 31 s ahead of the region's"],
  [-3_600_000, "the clock of r1 is 3600 s behind the region's"],
])("%s ms ahead: %s", (aheadMs, message) => {
  expect(checkClock("r1", "clock", aheadMs)?.message ?? null).toBe(message);
});
