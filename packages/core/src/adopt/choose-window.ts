import { addressPlus, addressValue, compareAddresses, type IpAddress } from "../address/ip.js";
import { rangeContains, type IpRange } from "../address/prefix.js";
import { mergeRanges, rangeSize } from "../address/ranges.js";

export interface ChosenWindow {
  readonly window: IpRange | null;
  /** Holes in the window, which nobody is given. */
  readonly reserved: readonly IpRange[];
  /** Dynamic addresses that cannot be in the window, because it would hold a static address. */
  readonly leftOut: readonly IpRange[];
}

/** Holes that one subnet may have. */
const RESERVED_MAX = 1024;

/**
 * Berth's subnets have one window, in which no static address may lie. Of the ranges of a dhcpd subnet the run with most addresses between two static ones
 * is taken, with the holes in it reserved.
 */
export function chooseWindow(ranges: readonly IpRange[], statics: readonly IpAddress[]): ChosenWindow {
  const fixed = [...new Set(statics)].sort(compareAddresses);
  const runs: IpRange[][] = [];
  let last: IpAddress | null = null;
  for (const range of mergeRanges(ranges).flatMap((merged) => withoutStatics(merged, fixed))) {
    const run = runs.at(-1);
    const apart = last === null || run === undefined || run.length > RESERVED_MAX || hasBetween(fixed, last, range.first);
    if (apart) runs.push([range]);
    else run.push(range);
    last = range.last;
  }
  const [best, ...others] = runs.toSorted((a, b) => compareSizes(b, a));
  const [first] = best ?? [];
  const end = best?.at(-1);
  if (best === undefined || first === undefined || end === undefined) return { window: null, reserved: [], leftOut: [] };
  return { window: { first: first.first, last: end.last }, reserved: holesIn(best), leftOut: mergeRanges(others.flat()) };
}

/** By one walk over the sorted static addresses: a range may have thousands in it. */
function withoutStatics(range: IpRange, fixed: readonly IpAddress[]): IpRange[] {
  const left: IpRange[] = [];
  let first: IpAddress | null = range.first;
  for (let at = firstFrom(fixed, range.first); at < fixed.length; at++) {
    const address = fixed[at];
    if (address === undefined || first === null || !rangeContains(range, address)) break;
    const before = addressPlus(address, -1);
    if (before !== null && compareAddresses(first, before) <= 0) left.push({ first, last: before });
    first = addressPlus(address, 1);
  }
  if (first !== null && compareAddresses(first, range.last) <= 0) left.push({ first, last: range.last });
  return left;
}

function holesIn(run: readonly IpRange[]): IpRange[] {
  return run.slice(1).flatMap((range, index) => {
    const before = run[index];
    const first = before === undefined ? null : addressPlus(before.last, 1);
    const last = addressPlus(range.first, -1);
    return first === null || last === null ? [] : [{ first, last }];
  });
}

function hasBetween(fixed: readonly IpAddress[], low: IpAddress, high: IpAddress): boolean {
  const next = fixed[firstFrom(fixed, low)];
  return next !== undefined && compareAddresses(next, high) <= 0;
}

/** Place of the first address that is not below. */
function firstFrom(fixed: readonly IpAddress[], address: IpAddress): number {
  let low = 0;
  let high = fixed.length;
  const wanted = addressValue(address);
  while (low < high) {
    const middle = (low + high) >>> 1;
    const value = fixed[middle];
    if (value !== undefined && addressValue(value) < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

function compareSizes(a: readonly IpRange[], b: readonly IpRange[]): number {
  const size = (run: readonly IpRange[]): bigint => run.reduce((sum, range) => sum + rangeSize(range), 0n);
  const [x, y] = [size(a), size(b)];
  return x < y ? -1 : x > y ? 1 : 0;
}
