import type { Problem } from "../problem.js";
import { isoTime } from "../api/lease-view.js";

/** A clock may be off by so many milliseconds; more spoils logs, the ends of leases and in the end certificates. */
export const CLOCK_OFF_MS = 30_000;

/** What is wrong with a clock that is so many milliseconds ahead of the region's (negative: behind); null when nothing is, or nobody knows. */
export function checkClock(whose: string, at: string, aheadMs: number | null): Problem | null {
  if (aheadMs === null || Math.abs(aheadMs) <= CLOCK_OFF_MS) return null;
  const seconds = Math.round(Math.abs(aheadMs) / 1000);
  return {
    code: "clock-skew",
    at,
    message: `the clock of ${whose} is ${seconds} s ${aheadMs > 0 ? "ahead of" : "behind"} the region's`,
    remedy: "let NTP set the time of both; leases end by the rack's clock",
  };
}

/** What is wrong when it is now earlier than a moment that the region already lived through (both in milliseconds since 1970); null when nothing is. */
export function checkSetBack(now: number, lived: number): Problem | null {
  if (lived - now <= CLOCK_OFF_MS) return null;
  return {
    code: "clock-set-back",
    at: "clock",
    message: `the coordinator's clock says ${isoTime(now)}, but the region was in use at ${isoTime(lived)}`,
    remedy:
      "let NTP set the time: until it is right an address given back may rest too short. " +
      "If the clock was ahead then and is right now, change anything and start the coordinator anew",
  };
}
