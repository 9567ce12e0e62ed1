import {
  addressFamily,
  addressFromValue,
  addressValue,
  ipv4FromNumber,
  ipv4Number,
  ipv6FromParts,
  type IpAddress,
} from "../address/ip.js";
import { ipv6Parts } from "../address/ipv6-text.js";
import { prefixRange, usableRange, type IpPrefix, type IpRange } from "../address/prefix.js";
import { FreeSet } from "./free-set.js";

/** Addresses of an IPv6 subnet that are looked at together; an IPv4 subnet is looked at as a whole. */
const STRETCH = 2n ** 16n;
/** Positions looked at for each address that is wanted ahead. */
const LOOKS = 8;

export interface FreeSources {
  /** What is never given, merged and ascending. */
  readonly aside: readonly IpRange[];
  /** Given or resting, asked whenever another stretch is looked at. */
  readonly taken: () => Iterable<IpAddress>;
}

interface Bounds {
  readonly first: bigint;
  readonly last: bigint;
}

/**
 * The free addresses of a subnet of any size. A /64 has more than any bitmap: one stretch of it is looked at, and when that is used up the next
 * in which anything can be given, round and round. So a pick costs the same however large the subnet is and however much of it is set aside.
 */
export class FreeAddresses {
  private readonly family: 4 | 6;
  /** Runs of addresses that may be given, ascending; none when all is set aside. */
  private readonly givable: readonly Bounds[];
  private readonly sources: FreeSources;
  /** Value of the stretch's first address. */
  private start: bigint;
  private startNumber = 0;
  /** The same as eight groups, of an IPv6 subnet. */
  private startParts: readonly number[] = [];
  private set: FreeSet;
  /** Where the search goes on, so that addresses that are only observed as taken are met once a round. */
  private cursor = 0;
  /** Found taken by observation in this turn; asked again in the next. */
  private skipped: number[] = [];

  constructor(prefix: IpPrefix, sources: FreeSources) {
    this.family = addressFamily(prefixRange(prefix).first);
    this.sources = sources;
    this.givable = givableRuns(usableRange(prefix), sources.aside);
    this.start = this.family === 4 ? addressValue(prefixRange(prefix).first) : (this.givable[0]?.first ?? 0n);
    this.set = this.look(this.start);
  }

  /** How many addresses were met as taken in this turn. */
  get met(): number {
    return this.skipped.length;
  }

  beginTurn(): void {
    for (const position of this.skipped) this.set.add(position);
    this.skipped = [];
  }

  take(address: IpAddress): void {
    const position = this.positionOf(address);
    if (position >= 0) this.set.remove(position);
  }

  /** It was taken back, not given back: the next one gets it again. */
  giveBack(address: IpAddress): void {
    const position = this.positionOf(address);
    if (position < 0) return;
    this.set.add(position);
    this.cursor = Math.min(this.cursor, position);
  }

  /** The next free address that `blocked` does not refuse; null when there is none. */
  next(blocked: (address: IpAddress) => boolean): IpAddress | null {
    const found = this.nextHere(blocked);
    if (found !== null || this.family === 4) return found;
    const began = this.start;
    for (let next = this.stretchAfter(this.start); next !== began; next = this.stretchAfter(next)) {
      this.set = this.look(next);
      const there = this.nextHere(blocked);
      if (there !== null) return there;
    }
    if (this.start !== began) this.set = this.look(began);
    return this.nextHere(blocked);
  }

  /** Those of this stretch that `next` would come to next, at most so many, and looks at no more than a few times as many; nothing is taken. */
  upcoming(count: number, isFree: (address: IpAddress) => boolean): readonly IpAddress[] {
    const found: IpAddress[] = [];
    const looks = count * LOOKS;
    const ahead = this.positionsFrom(this.cursor, { until: Infinity, count: looks });
    const behind = this.positionsFrom(0, { until: this.cursor, count: looks - ahead.length });
    for (const position of [...ahead, ...behind]) {
      if (found.length === count) break;
      const address = this.addressAt(position);
      if (isFree(address)) found.push(address);
    }
    return found;
  }

  private positionsFrom(from: number, limits: { readonly until: number; readonly count: number }): readonly number[] {
    const positions: number[] = [];
    for (let at = this.set.nextFrom(from); at >= 0 && at < limits.until && positions.length < limits.count; ) {
      positions.push(at);
      at = this.set.nextFrom(at + 1);
    }
    return positions;
  }

  private nextHere(blocked: (address: IpAddress) => boolean): IpAddress | null {
    for (;;) {
      let position = this.set.nextFrom(this.cursor);
      if (position < 0) position = this.set.nextFrom(0);
      if (position < 0) return null;
      this.cursor = position;
      const address = this.addressAt(position);
      if (!blocked(address)) return address;
      this.set.remove(position);
      this.skipped.push(position);
    }
  }

  /** Where the next stretch begins: behind this one, at the first address that may be given; at the lowest after the last. */
  private stretchAfter(start: bigint): bigint {
    const end = start + STRETCH;
    const run = this.givable.find(({ last }) => last >= end) ?? this.givable[0];
    if (run === undefined) return start;
    return run.last < end || run.first > end ? run.first : end;
  }

  private look(start: bigint): FreeSet {
    this.start = start;
    if (this.family === 4) this.startNumber = Number(start);
    else this.startParts = ipv6Parts(addressFromValue(6, start));
    this.cursor = 0;
    this.skipped = [];
    const end = this.family === 4 ? (this.givable.at(-1)?.last ?? start) + 1n : start + STRETCH;
    const size = Number(end - start);
    const set = new FreeSet(size, this.gaps(start, end));
    this.set = set;
    for (const address of this.sources.taken()) this.take(address);
    return set;
  }

  /** Positions of the stretch that may not be given. */
  private gaps(start: bigint, end: bigint): { first: number; last: number }[] {
    const gaps: { first: number; last: number }[] = [];
    let from = start;
    for (const { first, last } of this.givable) {
      if (last < start) continue;
      if (first >= end) break;
      if (first > from) gaps.push({ first: Number(from - start), last: Number(first - 1n - start) });
      from = last + 1n;
    }
    if (from < end) gaps.push({ first: Number(from - start), last: Number(end - 1n - start) });
    return gaps;
  }

  /** Negative for an address outside the stretch. */
  private positionOf(address: IpAddress): number {
    if (this.family === 4) return ipv4Number(address) - this.startNumber;
    const offset = addressValue(address) - this.start;
    return offset >= 0n && offset < STRETCH ? Number(offset) : -1;
  }

  private addressAt(position: number): IpAddress {
    if (this.family === 4) return ipv4FromNumber(this.startNumber + position);
    const parts = [...this.startParts];
    for (let i = parts.length - 1, rest = position; rest > 0 && i >= 0; i--) {
      rest += parts[i] ?? 0;
      parts[i] = rest & 0xffff;
      rest >>>= 16;
    }
    return ipv6FromParts(parts);
  }
}

function givableRuns(usable: IpRange, aside: readonly IpRange[]): Bounds[] {
  const runs: Bounds[] = [];
  const end = addressValue(usable.last);
  let from = addressValue(usable.first);
  for (const range of aside) {
    const first = addressValue(range.first);
    if (first > from) runs.push({ first: from, last: first - 1n < end ? first - 1n : end });
    const after = addressValue(range.last) + 1n;
    if (after > from) from = after;
    if (from > end) return runs;
  }
  runs.push({ first: from, last: end });
  return runs;
}
