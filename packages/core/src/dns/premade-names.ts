import {
  addressBits,
  addressFromValue,
  addressValue,
  compareAddresses,
  ipv4FromNumber,
  type IpAddress,
  type IpFamily,
} from "../address/ip.js";
import {
  prefixContains,
  prefixFamily,
  prefixLength,
  prefixNetwork,
  prefixRange,
  usableRange,
  type IpPrefix,
} from "../address/prefix.js";
import type { DesiredZone } from "../desired/schema.js";
import { reverseZonePrefix } from "./reverse.js";

/** Prefixes of more addresses get no pre-made names written out: a /16 costs named 58 MB and 0.3 s, a /8 would end it. */
export const PREMADE_ADDRESSES_MAX = 65_536;

export type PremadePrefix = DesiredZone["premade"][number];

/** A run of addresses within one block of 256 whose names are in one domain: what a loop can write without thinking. */
export interface PremadeRun {
  readonly family: IpFamily;
  readonly first: IpAddress;
  /** Always 1 for IPv6. */
  readonly count: number;
  readonly domain: string;
}

/** Whether the pre-made names of this prefix are written out. Where they are not, each allocation needs records of its own. */
export function hasPremadeNames(prefix: IpPrefix): boolean {
  return addressBits(prefixFamily(prefix)) - prefixLength(prefix) <= Math.log2(PREMADE_ADDRESSES_MAX);
}

/**
 * The pre-made names of a zone as ascending runs in stable order. A forward zone holds each name of each domain once; a reverse zone names each
 * address below its origin once, after the narrowest prefix around it. Prefixes above the limit are passed over.
 */
export function* premadeRuns(zone: DesiredZone): Generator<PremadeRun> {
  const prefixes = sortPremade(zone.premade.filter(({ prefix }) => hasPremadeNames(prefix)));
  if (zone.kind === "forward") {
    for (const premade of withoutCovered(prefixes)) yield* runsOf(premade, [], null);
    return;
  }
  const under = reverseZonePrefix(zone.origin);
  if (under === null) return;
  for (const [place, premade] of prefixes.entries()) yield* runsOf(premade, prefixesInside(prefixes, place), under);
}

/** By family and first address, the wider before the narrower. */
function sortPremade(premade: readonly PremadePrefix[]): PremadePrefix[] {
  return premade.toSorted(
    (a, b) =>
      compareAddresses(prefixNetwork(a.prefix), prefixNetwork(b.prefix)) ||
      prefixLength(a.prefix) - prefixLength(b.prefix) ||
      (a.domain < b.domain ? -1 : a.domain > b.domain ? 1 : 0),
  );
}

/** Each prefix that no wider one of its domain covers. In sorted order only the last one kept can. */
function withoutCovered(prefixes: readonly PremadePrefix[]): PremadePrefix[] {
  const kept = new Map<string, IpPrefix>();
  return prefixes.filter(({ prefix, domain }) => {
    const last = kept.get(domain);
    if (last !== undefined && covers(last, prefix)) return false;
    kept.set(domain, prefix);
    return true;
  });
}

/** Narrower prefixes inside the one at `place`, which they follow directly: their addresses are named after them. */
function prefixesInside(prefixes: readonly PremadePrefix[], place: number): IpPrefix[] {
  const outer = prefixes[place]?.prefix;
  const inside: IpPrefix[] = [];
  for (let next = place + 1; outer !== undefined; next++) {
    const candidate = prefixes[next]?.prefix;
    if (candidate === undefined || !covers(outer, candidate)) break;
    inside.push(candidate);
  }
  return inside;
}

function* runsOf({ prefix, domain }: PremadePrefix, inside: readonly IpPrefix[], under: IpPrefix | null): Generator<PremadeRun> {
  const range = usableUnder(prefix, under);
  if (range === null) return;
  const family = prefixFamily(prefix);
  if (family === 6) {
    for (let value = range.first; value <= range.last; value++) {
      const first = addressFromValue(6, value);
      if (!inside.some((other) => prefixContains(other, first))) yield { family, first, count: 1, domain };
    }
    return;
  }
  const last = Number(range.last);
  for (let value = Number(range.first); value <= last; ) {
    const hidden = inside.find((other) => prefixContains(other, ipv4FromNumber(value)));
    if (hidden !== undefined) {
      value = Number(addressValue(prefixRange(hidden).last)) + 1;
      continue;
    }
    let end = Math.min(last, Math.floor(value / 256) * 256 + 255);
    for (const other of inside) {
      const start = Number(addressValue(prefixNetwork(other)));
      if (start > value && start <= end) end = start - 1;
    }
    yield { family, first: ipv4FromNumber(value), count: end - value + 1, domain };
    value = end + 1;
  }
}

/** Usable addresses of a prefix that lie under a reverse zone's prefix, or all of them; null when there are none. */
function usableUnder(prefix: IpPrefix, under: IpPrefix | null): { readonly first: bigint; readonly last: bigint } | null {
  const usable = usableRange(prefix);
  let first = addressValue(usable.first);
  let last = addressValue(usable.last);
  if (under !== null) {
    if (prefixFamily(prefix) !== prefixFamily(under)) return null;
    const zone = prefixRange(under);
    first = first > addressValue(zone.first) ? first : addressValue(zone.first);
    last = last < addressValue(zone.last) ? last : addressValue(zone.last);
  }
  return first <= last ? { first, last } : null;
}

function covers(wider: IpPrefix, narrower: IpPrefix): boolean {
  return prefixLength(wider) <= prefixLength(narrower) && prefixContains(wider, prefixNetwork(narrower));
}
