import { EMPTY_LEDGER, LedgerState } from "@berth/core";
import { expect, test } from "vitest";
import { newIds, unusedId } from "./new-id.js";

test("ids differ, say their kind, and sort by when they were made", async () => {
  const ids = Array.from({ length: 10_000 }, () => unusedId("m", new Map()));
  expect(new Set(ids).size).toBe(10_000);
  for (const id of ids) expect(id).toMatch(/^m-[0-9a-hjkmnp-tv-z]{16}$/);
  const before = Date.now();
  await expect.poll(() => Date.now()).toBeGreaterThan(before);
  const later = unusedId("m", new Map());
  expect(ids.every((id) => id < later)).toBe(true);
});

test("an id that a record has is not given again", () => {
  const state = new LedgerState(EMPTY_LEDGER);
  const { allocationId, machineId } = newIds(state);
  expect([allocationId.slice(0, 2), machineId.slice(0, 2)]).toEqual(["a-", "m-"]);
  let asked = 0;
  const first = { has: () => (asked += 1) <= 3 } as unknown as ReadonlyMap<string, unknown>;
  unusedId("m", first);
  expect(asked).toBe(4);
});
