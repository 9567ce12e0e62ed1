import type { LeaseTime } from "../model.js";

/** Times are kept in 32 unsigned bits; the last two values mean these. */
export const TIME_NEVER = 0xffffffff;
export const TIME_UNKNOWN = 0xfffffffe;
const TIME_MAX = 0xfffffffd;

export function leaseTimeOf(stored: number): LeaseTime {
  const value = stored >>> 0;
  return value === TIME_NEVER ? "never" : value === TIME_UNKNOWN ? null : value;
}

/** Days from 1970-01-01 to a date of the Gregorian calendar. A day past the month's end runs on into the next, as in dhcpd. */
export function daysFromDate(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year;
  const era = Math.floor(y / 400);
  const yearOfEra = y - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  return era * 146_097 + yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear - 719_468;
}

/**
 * `W YYYY/MM/DD HH:MM:SS`, blanks anywhere between the numbers; some servers add the zone, which is always UTC. dhcpd itself reads a last number as seconds to be added
 * (measured: `03:04:05 -3600` is 02:04:05; it takes no plus sign).
 */
const DATE = /^\d+ (\d{4,5}) ?\/ ?(\d{1,2}) ?\/ ?(\d{1,2}) (\d{1,2}) ?: ?(\d{1,2}) ?: ?(\d{1,2})(?: (?:utc|gmt|z|(-?\d{1,9})))?$/;
const EPOCH = /^epoch (\d{1,12})$/;

/**
 * A date of dhcpd.leases(5) from its words joined by single blanks, lower case. Answers seconds, {@link TIME_NEVER} (also for what lies past
 * 2106, as dhcpd itself writes `never` past 2038), or {@link TIME_UNKNOWN} for anything that is no date.
 */
export function parseTime(text: string): number {
  if (text === "never") return TIME_NEVER;
  const epoch = EPOCH.exec(text);
  if (epoch !== null) return bounded(Number(epoch[1]));
  const date = DATE.exec(text);
  if (date === null) return TIME_UNKNOWN;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = date.slice(1, 7).map(Number);
  if (month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 || minute > 59 || second > 60) return TIME_UNKNOWN;
  return bounded(daysFromDate(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second + Number(date[7] ?? 0));
}

function bounded(seconds: number): number {
  return seconds < 0 ? TIME_UNKNOWN : seconds > TIME_MAX ? TIME_NEVER : seconds;
}

/** Seconds since 1970 as a time of a lease, within the same bounds. */
export function boundedTime(seconds: number): LeaseTime {
  return leaseTimeOf(bounded(seconds));
}

/** ISO 8601 in UTC, to the second. */
export function formatTime(time: LeaseTime): string | null {
  if (time === null || time === "never") return time;
  return `${new Date(time * 1000).toISOString().slice(0, 19)}Z`;
}
