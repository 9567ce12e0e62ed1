import { addressFamily, ipv4FromNumber, ipv4Number, type IpAddress } from "../address/ip.js";
import type { IpRange } from "../address/prefix.js";
import type { Pool } from "./config.js";

/**
 * Addresses in one pool. dhcpd keeps the leases of a pool in sorted lists that it fills by insertion, so its start is
 * superlinear in a pool's history: 65,024 ended leases took 73 s in one pool and 1.7 s in pools of this size.
 */
export const POOL_ADDRESSES_MAX = 4096;

/** The range without the given ones, as ascending ranges that do not touch. They may overlap, lie outside, and come in any order. */
export function subtractRanges(range: IpRange, excluded: readonly IpRange[]): IpRange[] {
  const runs = excluded.map(({ first, last }) => [ipv4Number(first), ipv4Number(last)] as const).sort(([a], [b]) => a - b);
  return gapsBetween(range, runs);
}

/** The range without single IPv4 addresses and whole ranges of them; other families are passed over. Quick for tens of thousands. */
export function subtractExcluded(range: IpRange, addresses: readonly IpAddress[], ranges: readonly IpRange[]): IpRange[] {
  const numbers = Uint32Array.from(addresses.filter(isIpv4), ipv4Number).sort();
  const runs = ranges
    .filter(({ first }) => isIpv4(first))
    .map(({ first, last }) => [ipv4Number(first), ipv4Number(last)] as const);
  return gapsBetween(
    range,
    inOrder(
      numbers,
      runs.toSorted(([a], [b]) => a - b),
    ),
  );
}

function isIpv4(address: IpAddress): boolean {
  return addressFamily(address) === 4;
}

/** Both as runs, by first address. */
function* inOrder(
  numbers: Uint32Array,
  runs: readonly (readonly [first: number, last: number])[],
): Generator<readonly [number, number]> {
  let next = 0;
  for (const number of numbers) {
    for (let run = runs[next]; run !== undefined && run[0] <= number; run = runs[++next]) yield run;
    yield [number, number];
  }
  yield* runs.slice(next);
}

function gapsBetween(range: IpRange, runs: Iterable<readonly [first: number, last: number]>): IpRange[] {
  const end = ipv4Number(range.last);
  let next = ipv4Number(range.first);
  const left: IpRange[] = [];
  for (const [first, last] of runs) {
    if (last < next) continue;
    if (first > end) break;
    if (first > next) left.push(rangeOf(next, first - 1));
    next = last + 1;
  }
  if (next <= end) left.push(rangeOf(next, end));
  return left;
}

/**
 * Cuts ranges into pools at multiples of {@link POOL_ADDRESSES_MAX}, so that carving one address out of a window changes one
 * pool and not all that follow.
 */
export function splitIntoPools(ranges: readonly IpRange[]): Pool[] {
  const pools = new Map<number, IpRange[]>();
  for (const range of ranges) {
    const end = ipv4Number(range.last);
    for (let first = ipv4Number(range.first); first <= end; ) {
      const block = Math.floor(first / POOL_ADDRESSES_MAX);
      const last = Math.min(end, (block + 1) * POOL_ADDRESSES_MAX - 1);
      const pool = pools.get(block) ?? [];
      pool.push(rangeOf(first, last));
      pools.set(block, pool);
      first = last + 1;
    }
  }
  return [...pools].sort(([a], [b]) => a - b).map(([, blockRanges]) => ({ ranges: blockRanges }));
}

/** The range that holds just this address. */
export function singleAddress(address: IpAddress): IpRange {
  return { first: address, last: address };
}

function rangeOf(first: number, last: number): IpRange {
  return { first: ipv4FromNumber(first), last: ipv4FromNumber(last) };
}
