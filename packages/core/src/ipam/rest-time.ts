import type { Subnet } from "./model.js";

/** The shortest rest of a released address, in milliseconds. */
const REST_MIN_MS = 30 * 60 * 1000;

/**
 * Until when an address released at `now` rests, in milliseconds since 1970: dhcpd leaves the old holder unanswered and the client keeps its
 * address until its lease ends, so never less than the longest lease it can have, and a tenth more because clocks differ.
 */
export function releaseUntil(subnet: Pick<Subnet, "maxLeaseTime" | "heldUntil">, now: number): number {
  return Math.max(now + REST_MIN_MS, now + subnet.maxLeaseTime * 1100, subnet.heldUntil ?? 0);
}
