import type { Clock } from "@berth/host";
import { expect, it } from "vitest";
import type { AuditStore } from "../store/store.js";
import { watchSetBack } from "./lived-moments.js";

const DAY = 86_400_000;
let now = 0;
const clock: Clock = { now: () => now, monotonic: () => now, sleep: () => Promise.resolve() };

/** An audit log whose newest entry is of this moment. */
function auditOf(at: number): AuditStore {
  const newest = at === 0 ? [] : [{ number: 1, at, actor: "a", action: "b", subject: "", detail: null }];
  return { append: () => Promise.resolve(), list: () => Promise.resolve([]), newest: () => Promise.resolve(newest) };
}

it("a clock that was set back before the start is a problem until it is right again", async () => {
  now = 10 * DAY;
  const look = await watchSetBack(auditOf(20 * DAY), clock);
  expect(look()).toMatchObject({ code: "clock-set-back", at: "clock" });
  expect(look()?.message).toBe(
    "the coordinator's clock says 1970-01-11T00:00:00.000Z, but the region was in use at 1970-01-21T00:00:00.000Z",
  );
  now = 20 * DAY - 1000;
  expect(look()).toBeNull();
});

it("a clock that is set back later is found, one that other coordinators' clocks surpass by seconds is not", async () => {
  now = 5 * DAY;
  const look = await watchSetBack(auditOf(0), clock);
  expect(look()).toBeNull();
  now -= 20_000;
  expect(look()).toBeNull();
  now -= 20_000;
  expect(look()).toMatchObject({ code: "clock-set-back" });
  now += DAY;
  expect(look()).toBeNull();
});
