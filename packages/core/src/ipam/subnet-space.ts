import { addressFamily, addressValue, ipv4Number, type IpAddress } from "../address/ip.js";
import { mergeRanges } from "../address/ranges.js";
import { prefixFamily, type IpRange } from "../address/prefix.js";
import { FreeAddresses } from "./free-addresses.js";
import type { HeldAllocations } from "./held/held-allocations.js";
import { SpaceAllocations } from "./held/space-allocations.js";
import type { Quarantine, Reservation, Subnet } from "./model.js";
import { RestQueue } from "./rest-queue.js";

/** The addresses of one subnet: who has which, which rest, which are free. */
export class SubnetSpace {
  readonly allocations: SpaceAllocations;
  readonly rest = new RestQueue();
  private readonly reserved = new Map<string, Reservation>();
  /** Ranges that the declaration and the reservations keep, merged and ascending; null until asked. */
  private aside: readonly Span[] | null = null;
  private declared: Subnet;
  /** Free and never given, not counting what is only observed; built when first asked, dropped when the declaration changes. */
  private free: FreeAddresses | null = null;

  private readonly onMet: (space: SubnetSpace) => void;

  /** `onMet` is called when an address was met as taken by observation: then the next turn has to begin here, too. */
  constructor(subnet: Subnet, held: HeldAllocations, onMet: (space: SubnetSpace) => void) {
    this.declared = subnet;
    this.onMet = onMet;
    this.allocations = new SpaceAllocations(held);
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
    const position = valueOf(address);
    const spans = this.asideSpans();
    let low = 0;
    for (let high = spans.length; low < high; ) {
      const middle = (low + high) >> 1;
      if ((spans[middle]?.to ?? 0) < position) low = middle + 1;
      else high = middle;
    }
    const span = spans[low];
    return span !== undefined && span.from <= position;
  }

  private asideSpans(): readonly Span[] {
    return (this.aside ??= mergeRanges(this.setAside()).map(spanOf));
  }

  private forget(): void {
    this.free = null;
    this.aside = null;
  }

  /** `row` is where it stands among the allocations that are held. */
  addAllocation(address: IpAddress, row: number): void {
    this.allocations.add(address, row);
    this.refresh(address);
  }

  removeAllocation(address: IpAddress, row: number): void {
    this.allocations.remove(address, row);
    this.refresh(address);
  }

  setQuarantine(address: IpAddress, quarantine: Quarantine | null): void {
    this.rest.remove(address);
    if (quarantine !== null) this.rest.add(quarantine);
    this.refresh(address);
  }

  /** Observations may have changed: what they blocked before is asked again. */
  beginTurn(): void {
    this.free?.beginTurn();
  }

  /** The next address that is free, was never given and is not refused by `blocked`; null when there is none. */
  nextFree(blocked: (address: IpAddress) => boolean): IpAddress | null {
    const next = (this.free ??= this.buildFree()).next(blocked);
    if (this.met > 0) this.onMet(this);
    return next;
  }

  /** The addresses that `nextFree` would come to next, at most so many of them; nothing is taken. */
  upcoming(count: number, isFree: (address: IpAddress) => boolean): readonly IpAddress[] {
    return (this.free ??= this.buildFree()).upcoming(count, isFree);
  }

  /** How many free ones `nextFree` met as taken by observation in this turn. */
  get met(): number {
    return this.free?.met ?? 0;
  }

  private refresh(address: IpAddress): void {
    if (this.free === null) return;
    const given = this.allocations.has(address) || this.rest.get(address) !== undefined;
    if (given || this.isSetAside(address)) this.free.take(address);
    else this.free.giveBack(address);
  }

  private buildFree(): FreeAddresses {
    return new FreeAddresses(this.declared.prefix, { aside: this.asideSpans(), taken: () => this.taken() });
  }

  private *taken(): Iterable<IpAddress> {
    yield* this.allocations.addresses();
    for (const { address } of this.rest.values()) yield address;
  }
}

/** The ranges that a subnet's own declaration keeps from being given: gateway, routers, pinned servers, reserved ranges, the dynamic window. */
export function setAside(subnet: Subnet): readonly IpRange[] {
  const single = [
    ...(subnet.gateway === null ? [] : [subnet.gateway]),
    ...routersOf(subnet),
    ...(subnet.dns ?? []),
    ...(subnet.ntp ?? []),
  ];
  const ranges = [...subnet.reserved, ...(subnet.window === null ? [] : [subnet.window])];
  const family = prefixFamily(subnet.prefix);
  return [...single.map((address) => ({ first: address, last: address })), ...ranges].filter(
    ({ first }) => addressFamily(first) === family,
  );
}

/** Routers that machines of the subnet are told of beside its gateway. */
export function routersOf({ dhcp }: Subnet): readonly IpAddress[] {
  return [...(dhcp?.routers ?? []), ...(dhcp?.routes ?? []).map(({ via }) => via)];
}

/** A range with its bounds as numbers, for the search. */
interface Span extends IpRange {
  readonly from: number | bigint;
  readonly to: number | bigint;
}

function spanOf({ first, last }: IpRange): Span {
  return { first, last, from: valueOf(first), to: valueOf(last) };
}

function valueOf(address: IpAddress): number | bigint {
  return addressFamily(address) === 4 ? ipv4Number(address) : addressValue(address);
}
