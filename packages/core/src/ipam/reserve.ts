import type { IpAddress } from "../address/ip.js";
import { addressFamily, addressValue } from "../address/ip.js";
import { prefixContains, rangeContains, type IpRange } from "../address/prefix.js";
import { accepted, refused, type Problem, type Result } from "../problem.js";
import { describeHolder, formatRange } from "./check-subnet.js";
import { chooseSubnet } from "./choose-subnet.js";
import type { Decision } from "./decision.js";
import type { LedgerState } from "./ledger-state.js";
import type { Reservation, ReservationKind, Subnet } from "./model.js";
import type { Observed } from "./observed.js";
import { restLeased } from "./rest-leased.js";

/** Controls, line ends, direction marks and other characters without a shape, and half surrogates, which no database keeps. */
const NOT_PLAIN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;
const NOTE_MAX = 200;
/** In one subnet; each costs an entry of the free set's memory and of every answer that lists them. */
const RESERVATIONS_MAX = 4096;
const NAMED_MAX = 5;

export interface ReserveRequest {
  readonly kind: ReservationKind;
  readonly first: IpAddress;
  /** Left out, the first address alone. */
  readonly last?: IpAddress | null;
  /** By id or prefix; left out, the one around the first address. */
  readonly subnet?: string | null;
  readonly note?: string | null;
}

export interface Reserved {
  readonly reservation: Reservation;
  /** False when the same range was kept so before. */
  readonly created: boolean;
}

/** Keeps addresses from being given until {@link unreserve}. What is given already stays given, so a range over it is refused. */
export function reserve(
  state: LedgerState,
  request: ReserveRequest,
  context: { readonly observed: Observed; readonly now: number; readonly id: string },
): Result<Decision<Reserved>> {
  const { kind, first, note: wished } = request;
  const note = wished ?? "";
  const last = request.last ?? first;
  const subnet = chooseSubnet(state, { subnet: request.subnet ?? null, address: first, nics: [] }, context.observed);
  if (!subnet.ok) return subnet;
  const problems = checkReservation(state, subnet.value, { first, last, note });
  if (problems.length > 0) return refused(...problems);
  const space = state.spaceOf(subnet.value.id);
  const same = [...space.reservations].find((other) => other.kind === kind && other.first === first && other.last === last);
  if (same !== undefined && (wished === undefined || wished === null || same.note === note))
    return accepted({ value: { reservation: same, created: false }, changes: [] });
  const overlapping = [...space.reservations].find((other) => rangesOverlap(other, { first, last }));
  if (overlapping !== undefined) return refused(overlaps(overlapping, { first, last }));
  const reservation: Reservation = { id: context.id, subnetId: subnet.value.id, kind, first, last, note, createdAt: context.now };
  const leaves = (address: IpAddress): boolean => rangeContains({ first, last }, address);
  const rests = restLeased(state, { subnet: subnet.value, leaves, racks: context.observed.racks.all(), now: context.now });
  return accepted({
    value: { reservation, created: true },
    changes: [{ table: "reservation", before: null, after: reservation }, ...rests],
  });
}

/** Takes a reservation or exclusion back, by id, or by its first address. */
export function unreserve(state: LedgerState, reference: string): Result<Decision<Reservation>> {
  const byId = state.reservations.get(reference);
  const found = byId === undefined ? [...state.reservations.values()].filter(({ first }) => first === reference) : [byId];
  const [before, ...more] = found;
  const shown = reference.replace(/[^\x20-\x7e]/g, "?").slice(0, 80);
  if (before === undefined) {
    const message = `there is no reservation '${shown}'`;
    return refused({
      code: "reservation-unknown",
      at: "reservation",
      message,
      remedy: "list them with `berth reservation list`",
    });
  }
  if (more.length > 0) {
    const message = `${shown} begins ${found.length} reservations: ${found.map(({ id }) => id).join(", ")}`;
    return refused({ code: "reservation-ambiguous", at: "reservation", message, remedy: "use the id" });
  }
  return accepted({ value: before, changes: [{ table: "reservation", before, after: null }] });
}

function checkReservation(
  state: LedgerState,
  subnet: Subnet,
  { first, last, note }: IpRange & { readonly note: string },
): Problem[] {
  const range = formatRange({ first, last });
  for (const address of [first, last]) {
    if (prefixContains(subnet.prefix, address)) continue;
    const message = `${address} is not in ${subnet.prefix}`;
    return [{ code: "reservation-outside", at: "last", message, remedy: "keep both ends in one subnet" }];
  }
  if (addressFamily(first) === addressFamily(last) && addressValue(first) > addressValue(last)) {
    const message = `${range} ends before it begins`;
    return [{ code: "reservation-inverted", at: "last", message, remedy: `write it as ${last}-${first}` }];
  }
  const problems: Problem[] = [];
  if (note.length > NOTE_MAX || NOT_PLAIN.test(note)) {
    const message = `the note is not ${NOTE_MAX} characters of plain text at most`;
    problems.push({ code: "note-invalid", at: "note", message, remedy: "shorten it, and leave line breaks out" });
  }
  const space = state.spaceOf(subnet.id);
  if (space.reservationCount >= RESERVATIONS_MAX) {
    const message = `${subnet.prefix} has ${RESERVATIONS_MAX} reservations, its limit`;
    problems.push({ code: "reservations-too-many", at: "first", message, remedy: "join ranges that touch" });
  }
  const given = [...space.allocations.values()].filter(({ address }) => rangeContains({ first, last }, address));
  if (given.length === 0) return problems;
  const named = given.slice(0, NAMED_MAX).map((allocation) => `${allocation.address} of ${describeHolder(allocation)}`);
  const more = given.length > NAMED_MAX ? ` and ${given.length - NAMED_MAX} more` : "";
  const message = `${range} would lie over ${named.join(", ")}${more}`;
  return [
    ...problems,
    { code: "reservation-over-allocations", at: "first", message, remedy: "reserve around them, or release them first" },
  ];
}

function rangesOverlap(a: IpRange, b: IpRange): boolean {
  return rangeContains(a, b.first) || rangeContains(b, a.first);
}

function overlaps({ id, kind, first, last }: Reservation, range: IpRange): Problem {
  const message = `${formatRange(range)} overlaps ${kind} ${id}, ${formatRange({ first, last })}`;
  return {
    code: "reservation-overlaps",
    at: "first",
    message,
    remedy: `remove it first with \`berth reservation remove ${id}\``,
  };
}
