import type { IpAddress } from "../address/ip.js";
import { prefixContains, usableRange } from "../address/prefix.js";
import { accepted, refused, type Problem, type Result } from "../problem.js";
import { checkAddress, type Asked } from "./check-address.js";
import { intersectRanges, mergeRanges, rangeSize } from "../address/ranges.js";
import type { LedgerState } from "./ledger-state.js";
import type { SubnetSpace } from "./subnet-space.js";
import { OBSERVATION_WINDOW_MS, strangerOnWire } from "./wire-sightings.js";

/**
 * The address a machine gets: the one it had last; else one that was never given; else the one released longest ago of those that have
 * rested. What the declaration, the ledger or the racks' observations hold is never chosen. Costs the same at any size and fill.
 */
export function chooseAddress(state: LedgerState, space: SubnetSpace, asked: Asked): Result<IpAddress> {
  const last = lastAddress(state, space, asked);
  if (last !== null) return accepted(last);
  const { subnet } = space;
  const { observed } = asked;
  const { site } = subnet;
  const onWire = (address: IpAddress): boolean =>
    strangerOnWire(observed.wire, { site, address, nics: [], former: space.rest.get(address) }) !== null;
  const blocked = (address: IpAddress): boolean => observed.holder(subnet.site, address, []) !== null || onWire(address);
  const fresh = space.nextFree(blocked);
  if (fresh !== null) return accepted(fresh);
  const rested = space.rest.next(asked.now, (quarantine) => {
    const { address } = quarantine;
    return blocked(address) || space.isSetAside(address) || observed.stillServed(subnet, quarantine) !== null;
  });
  if (rested !== null) return accepted(rested.address);
  const seen = seenLongestAgo(space, asked);
  return seen === null ? refused(exhausted(space, asked)) : accepted(seen);
}

/**
 * The last resort: an address that answered on the wire once, longest ago, and not since the observation window began. Sightings come longest ago first, so that the
 * search ends where the window begins, however many there are in it.
 */
function seenLongestAgo(space: SubnetSpace, asked: Asked): IpAddress | null {
  const { observed, now } = asked;
  const before = now - (observed.wireWindowMs ?? OBSERVATION_WINDOW_MS);
  for (const { address, at } of observed.wire?.oldest(space.subnet.site) ?? []) {
    if (at > before) return null;
    if (prefixContains(space.subnet.prefix, address) && checkAddress(space, address, asked).length === 0) return address;
  }
  return null;
}

/** What an operator should know of an address that is given all the same. */
export function addressWarnings(
  { subnet, rest }: SubnetSpace,
  address: IpAddress,
  { nics, observed }: Pick<Asked, "nics" | "observed">,
): readonly Problem[] {
  const former = rest.get(address);
  const stranger = strangerOnWire(observed.wire, { site: subnet.site, address, nics, former });
  if (stranger === null) return [];
  const message = `${stranger.hardwareAddresses.join(" and ")} answered for ${address} on ${new Date(stranger.at).toISOString()}; it is given all the same, with no better one free`;
  return [{ code: "address-seen-before", at: "address", message, remedy: "make sure that nobody uses it" }];
}

function lastAddress(state: LedgerState, space: SubnetSpace, asked: Asked): IpAddress | null {
  const mine = asked.nics
    .flatMap((nic) => state.restingOfNic.of(nic))
    .flatMap((key) => state.quarantines.get(key) ?? [])
    .filter(({ subnetId }) => subnetId === space.subnet.id)
    .sort((a, b) => b.releasedAt - a.releasedAt);
  return mine.find(({ address }) => checkAddress(space, address, asked).length === 0)?.address ?? null;
}

function exhausted(space: SubnetSpace, { now }: Asked): Problem {
  const { subnet, allocations, rest } = space;
  const usable = usableRange(subnet.prefix);
  const aside = mergeRanges(space.setAside().flatMap((range) => intersectRanges(range, usable) ?? []));
  const setAsideCount = aside.reduce((sum, range) => sum + rangeSize(range), 0n);
  const counts = `${rangeSize(usable)} usable, ${allocations.size} allocated, ${setAsideCount} set aside, ${rest.size} released before`;
  const seen = space.met;
  const observed = seen === 0 ? "" : `, ${seen} in use by racks or leases`;
  const end = rest.nextEnd(now);
  const next = end === null ? "" : `; the next one has rested at ${new Date(end).toISOString()}`;
  return {
    code: "subnet-exhausted",
    at: `subnet ${subnet.id}`,
    message: `${subnet.prefix} has no address to give: ${counts}${observed}${next}`,
    remedy: "release machines, shrink the window or the reserved ranges, or declare another subnet",
  };
}
