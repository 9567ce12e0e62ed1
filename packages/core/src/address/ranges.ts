import { addressFamily, addressFromValue, addressValue, compareAddresses, type IpAddress } from "./ip.js";
import type { IpRange } from "./prefix.js";

/** How many addresses the range has. */
export function rangeSize({ first, last }: IpRange): bigint {
  return addressValue(last) - addressValue(first) + 1n;
}

/** The same addresses in as few ranges as possible: sorted, without overlap, touching ones joined. IPv4 comes before IPv6. */
export function mergeRanges(ranges: readonly IpRange[]): IpRange[] {
  const merged: { first: IpAddress; last: IpAddress }[] = [];
  for (const { first, last } of [...ranges].sort((a, b) => compareAddresses(a.first, b.first))) {
    const open = merged.at(-1);
    const joins =
      open !== undefined &&
      addressFamily(open.last) === addressFamily(first) &&
      addressValue(first) <= addressValue(open.last) + 1n;
    if (!joins) merged.push({ first, last });
    else if (compareAddresses(last, open.last) > 0) open.last = last;
  }
  return merged;
}

/** The addresses that are in both, or null where there are none. */
export function intersectRanges(a: IpRange, b: IpRange): IpRange | null {
  if (addressFamily(a.first) !== addressFamily(b.first)) return null;
  const first = compareAddresses(a.first, b.first) > 0 ? a.first : b.first;
  const last = compareAddresses(a.last, b.last) < 0 ? a.last : b.last;
  return compareAddresses(first, last) > 0 ? null : { first, last };
}

/** The range without the given ones, as ascending ranges that do not touch. They may overlap, lie outside, and come in any order. */
export function withoutRanges(range: IpRange, excluded: readonly IpRange[]): IpRange[] {
  const family = addressFamily(range.first);
  const end = addressValue(range.last);
  const left: IpRange[] = [];
  let next = addressValue(range.first);
  for (const hole of mergeRanges(excluded.flatMap((one) => intersectRanges(one, range) ?? []))) {
    const first = addressValue(hole.first);
    if (first > next) left.push({ first: addressFromValue(family, next), last: addressFromValue(family, first - 1n) });
    next = addressValue(hole.last) + 1n;
  }
  if (next <= end) left.push({ first: addressFromValue(family, next), last: range.last });
  return left;
}
