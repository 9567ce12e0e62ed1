import { createFakeClock } from "@berth/host/fakes";
import { expect, it } from "vitest";
import { Attempts } from "./attempts.js";

const LIMITS = { failuresMax: 2, windowMs: 1_000, sourcesMax: 3 };

it("makes a source wait for the rest of the window after too many failures, and no other", async () => {
  const clock = createFakeClock(0);
  const attempts = new Attempts(clock, LIMITS);
  attempts.fail("a");
  await clock.advance(400);
  expect(attempts.waitMs("a")).toBe(0);
  attempts.fail("a");
  expect(attempts.waitMs("a")).toBe(600);
  expect(attempts.waitMs("b")).toBe(0);
  await clock.advance(600);
  expect(attempts.waitMs("a")).toBe(0);
  attempts.fail("a");
  expect(attempts.waitMs("a")).toBe(0);
});

it("remembers a bounded number of sources", () => {
  const attempts = new Attempts(createFakeClock(0), LIMITS);
  for (const source of ["a", "a", "b", "b", "c", "c", "d", "d"]) attempts.fail(source);
  expect(["a", "b", "c", "d"].map((source) => attempts.waitMs(source) > 0)).toEqual([false, true, true, true]);
});
