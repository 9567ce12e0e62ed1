import { verdictKey, type AddressVerdict } from "./verdict.js";

/** What an address counts as, and what it may become. */
export interface SettledVerdict {
  readonly verdict: AddressVerdict;
  /** A class that one scan saw, since this time (milliseconds); in force with the second equal scan or when it has stood long enough. */
  readonly pending: { readonly verdict: AddressVerdict; readonly since: number } | null;
}

/**
 * Agents report changes only: a report that nothing corrected for this long is as good as a second equal scan.
 */
export const SETTLE_MS = 2000;

/** Steps whose word is final at once: configuration, and the marks of a VIP manager. */
const IMMEDIATE = new Set([1, 3]);

/**
 * One more scan of a host. A class changes only with the second equal scan, so that a link that flaps or a scan amid a reconfiguration moves
 * nothing; configuration and sure marks count at once, and so does an address that was not there before.
 */
export function settleVerdicts(
  previous: ReadonlyMap<string, SettledVerdict>,
  scan: readonly AddressVerdict[],
  now: number,
): ReadonlyMap<string, SettledVerdict> {
  return new Map(scan.map((verdict) => [verdictKey(verdict), settleOne(previous.get(verdictKey(verdict)), verdict, now)]));
}

/** What counts at a time. */
export function standingVerdict({ verdict, pending }: SettledVerdict, now: number): AddressVerdict {
  return pending !== null && now - pending.since >= SETTLE_MS ? pending.verdict : verdict;
}

function settleOne(known: SettledVerdict | undefined, seen: AddressVerdict, now: number): SettledVerdict {
  if (known === undefined || IMMEDIATE.has(seen.step)) return { verdict: seen, pending: null };
  const standing = standingVerdict(known, now);
  if (standing.class === seen.class || standing.step === 1) return { verdict: seen, pending: null };
  if (known.pending?.verdict.class === seen.class) return { verdict: seen, pending: null };
  return { verdict: { ...standing, observed: seen.observed }, pending: { verdict: seen, since: now } };
}
