import { ipv4Number } from "../address/ip.js";
import type { IpPrefix, IpRange } from "../address/prefix.js";
import type { SubnetDeclaration } from "./config.js";

/** A range of a pool, with its ends as numbers. */
export interface PlacedRange {
  readonly range: IpRange;
  readonly first: number;
  readonly last: number;
  /** Of the subnet whose pool it is in. */
  readonly prefix: IpPrefix;
}

/** Those of all subnets, by first address. */
export function placedRanges(subnets: readonly SubnetDeclaration[]): PlacedRange[] {
  return subnets
    .flatMap(({ prefix, pools }) =>
      pools.flatMap(({ ranges }) =>
        ranges.map((range) => ({ range, first: ipv4Number(range.first), last: ipv4Number(range.last), prefix })),
      ),
    )
    .sort((a, b) => a.first - b.first);
}

/** By bisection over ranges sorted by first address: 50,000 hosts and many ranges must not meet pairwise. */
export function rangeAround(ranges: readonly PlacedRange[], value: number): IpRange | null {
  let low = 0;
  let high = ranges.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ranges[middle]?.first ?? Infinity) <= value) low = middle + 1;
    else high = middle;
  }
  const candidate = ranges[low - 1];
  return candidate !== undefined && candidate.last >= value ? candidate.range : null;
}
