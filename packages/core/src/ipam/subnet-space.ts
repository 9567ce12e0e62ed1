import { addressFamily, ipv4FromNumber, ipv4Number, type IpAddress } from "../address/ip.js";
import { mergeRanges } from "../address/ranges.js";
import { prefixRange, usableRange, type IpRange } from "../address/prefix.js";
import { FreeSet, type Span } from "./free-set.js";
import type { Allocation, Quarantine, Reservation, Subnet } from "./model.js";
import { RestQueue } from "./rest-queue.js";

/** The addresses of one IPv4 subnet: who has which, which rest, which are free. */
export class SubnetSpace {
  readonly allocations = new Map<IpAddress, Allocation>();
  readonly rest = new RestQueue();
  private readonly reserved = new Map<string, Reservation>();
  /** Spans that the declaration and the reservations keep, merged and ascending; null until asked. */
  private aside: readonly Span[] | null = null;
  private declared: Subnet;
  /** Free and never given, not counting what is only observed; built when first asked, dropped when the declaration changes. */
  private free: FreeSet | null = null;
  /** Where the search goes on, so that addresses that are only observed as taken are met once a round. */
  private cursor = 0;
  /** Found taken by observation in this turn; asked again in the next. */
  private skipped: number[] = [];

  constructor(subnet: Subnet) {
    this.declared = subnet;
  }

  get subnet(): Subnet {
    return this.declared;
  }

  redeclare(subnet: Subnet): void {
    this.declared = subnet;
    this.forget();
  }

  setReservation(before: Reservation | null, after: Reservation | null): void {
    if (before !== null) this.reserved.delete(before.id);
    if (after !== null) this.reserved.set(after.id, after);
    this.forget();
  }

  get reservations(): Iterable<Reservation> {
    return this.reserved.values();
  }

  get reservationCount(): number {
    return this.reserved.size;
  }

  /** What is never given here: by the declaration of the subnet, and by reservations. */
  setAside(): readonly IpRange[] {
    return [...setAside(this.declared), ...this.reserved.values()];
  }

  isSetAside(address: IpAddress): boolean {
    const position = ipv4Number(address);
    const spans = this.asideSpans();
    let low = 0;
    for (let high = spans.length; low < high; ) {
      const middle = (low + high) >> 1;
      if ((spans[middle]?.last ?? 0) < position) low = middle + 1;
      else high = middle;
    }
    const span = spans[low];
    return span !== undefined && span.first <= position;
  }

  private asideSpans(): readonly Span[] {
    return (this.aside ??= mergeRanges(this.setAside()).map(spanOf));
  }

  private forget(): void {
    this.free = null;
    this.aside = null;
    this.skipped = [];
    this.cursor = 0;
  }

  setAllocation(address: IpAddress, allocation: Allocation | null): void {
    if (allocation === null) this.allocations.delete(address);
    else this.allocations.set(address, allocation);
    this.refresh(address);
  }

  setQuarantine(address: IpAddress, quarantine: Quarantine | null): void {
    this.rest.remove(address);
    if (quarantine !== null) this.rest.add(quarantine);
    this.refresh(address);
  }

  /** Observations may have changed: what they blocked before is asked again. */
  beginTurn(): void {
    for (const position of this.skipped) this.free?.add(position);
    this.skipped = [];
  }

  /** The next address that is free, was never given and is not refused by `blocked`; null when there is none. */
  nextFree(blocked: (address: IpAddress) => boolean): IpAddress | null {
    const free = (this.free ??= this.buildFree());
    const base = ipv4Number(prefixRange(this.declared.prefix).first);
    for (;;) {
      let position = free.nextFrom(this.cursor);
      if (position < 0) position = free.nextFrom(0);
      if (position < 0) return null;
      this.cursor = position;
      const address = ipv4FromNumber(base + position);
      if (!blocked(address)) return address;
      free.remove(position);
      this.skipped.push(position);
    }
  }

  /** The addresses that `nextFree` would come to next, at most so many of them; nothing is taken, and it looks no further than a few times as many. */
  upcoming(count: number, isFree: (address: IpAddress) => boolean): readonly IpAddress[] {
    const free = (this.free ??= this.buildFree());
    const base = ipv4Number(prefixRange(this.declared.prefix).first);
    const found: IpAddress[] = [];
    let position = free.nextFrom(this.cursor);
    let wrapped = false;
    for (let looks = 0; looks < count * 8 && found.length < count; looks++) {
      if (position < 0 && wrapped) break;
      if (position < 0) {
        wrapped = true;
        position = free.nextFrom(0);
      }
      if (position < 0 || (wrapped && position >= this.cursor)) break;
      const address = ipv4FromNumber(base + position);
      if (isFree(address)) found.push(address);
      position = free.nextFrom(position + 1);
    }
    return found;
  }

  /** How many are free and never given; those that `nextFree` met as taken in this turn are counted apart. */
  counts(): { readonly free: number; readonly skipped: number } {
    const free = (this.free ??= this.buildFree());
    return { free: free.count, skipped: this.skipped.length };
  }

  private refresh(address: IpAddress): void {
    if (this.free === null) return;
    const position = ipv4Number(address) - ipv4Number(prefixRange(this.declared.prefix).first);
    const given = this.allocations.has(address) || this.rest.get(address) !== undefined;
    if (given || this.isSetAside(address)) this.free.remove(position);
    else {
      this.free.add(position);
      this.cursor = Math.min(this.cursor, position); // it was taken back, not given back: the next one gets it again
    }
  }

  private buildFree(): FreeSet {
    const whole = spanOf(prefixRange(this.declared.prefix));
    const usable = spanOf(usableRange(this.declared.prefix));
    const base = whole.first;
    const taken: Span[] = [
      { first: whole.first, last: usable.first - 1 },
      { first: usable.last + 1, last: whole.last },
      ...this.asideSpans(),
    ];
    const shifted = taken
      .filter(({ first, last }) => first <= last)
      .map(({ first, last }) => ({ first: Math.max(first, whole.first) - base, last: Math.min(last, whole.last) - base }));
    const free = new FreeSet(
      whole.last - whole.first + 1,
      shifted.filter(({ first, last }) => first <= last),
    );
    for (const address of this.allocations.keys()) free.remove(ipv4Number(address) - base);
    for (const { address } of this.rest.values()) free.remove(ipv4Number(address) - base);
    return free;
  }
}

/** The IPv4 ranges that a subnet's own declaration keeps from being given: gateway, pinned servers, reserved ranges, the dynamic window. */
export function setAside(subnet: Subnet): readonly IpRange[] {
  const single = [...(subnet.gateway === null ? [] : [subnet.gateway]), ...(subnet.dns ?? []), ...(subnet.ntp ?? [])];
  const ranges = [...subnet.reserved, ...(subnet.window === null ? [] : [subnet.window])];
  return [...single.map((address) => ({ first: address, last: address })), ...ranges].filter(
    ({ first }) => addressFamily(first) === 4,
  );
}

function spanOf({ first, last }: IpRange): Span {
  return { first: ipv4Number(first), last: ipv4Number(last) };
}
