import type { IpAddress } from "../address/ip.js";
import { standingVerdict } from "../interface/settle-verdicts.js";
import type { AddressVerdict } from "../interface/verdict.js";
import { canMove, fleetVerdict } from "./fleet-verdict.js";
import {
  addressKey,
  type AddressFacts,
  type Held,
  type TopologyRack,
  type Topology,
  type VipMove,
  vouchedUntil,
} from "./topology.js";

/** Moves remembered an address. */
export const MOVES_MAX = 32;

/** A rack that has an address on a NIC, beside the one in question. */
interface OtherHolder {
  readonly rack: TopologyRack;
  readonly held: Held;
}

/** A rack's newest report no longer has the address. `known` is the rack before that report. */
export function addressLeaves(topology: Topology, known: TopologyRack, address: IpAddress): readonly AddressFacts[] {
  const facts = topology.addresses.get(addressKey(known.report.site, address));
  const held = known.held.get(address);
  if (facts === undefined || held === undefined) return [];
  const { rack } = known.report;
  const rest: AddressFacts = { ...facts, holders: facts.holders.filter((holder) => holder !== rack) };
  const seenUntil = vouchedUntil(topology, known);
  const isVirtual = verdictOn(topology, known, held).class === "vip";
  // An anycast address does not move, but that it was one is remembered: a service that withdraws it has not given it up.
  if (held.unattached)
    return [rest.holders.length === 0 && isVirtual ? { ...rest, departed: { rack, at: seenUntil, virtual: true } } : rest];
  const successor = latest(others(topology, facts, rack).filter((other) => other.held.since >= held.since));
  if (successor === null) {
    return [{ ...rest, departed: rest.holders.length === 0 ? { rack, at: seenUntil, virtual: isVirtual } : null }];
  }
  const { failoverMs, moveWindowMs } = topology.times;
  const overlap = seenUntil - successor.held.since;
  const proves =
    overlap <= failoverMs && -overlap <= moveWindowMs && canMove(verdictOn(topology, successor.rack, successor.held));
  if (!isVirtual && !proves) return [{ ...rest, owner: rack }];
  const at = Math.max(seenUntil, successor.held.since);
  return [withMove(rest, { from: rack, to: successor.rack.report.rack, at, proves }, successor.held.since)];
}

/** A rack's newest report has an address that the one before had not. `next` is the rack with that report. */
export function addressAppears(topology: Topology, next: TopologyRack, address: IpAddress): readonly AddressFacts[] {
  const { rack, site } = next.report;
  const held = next.held.get(address);
  if (held === undefined) return [];
  const facts = topology.addresses.get(addressKey(site, address)) ?? nobodys(site, address);
  const holders = [...facts.holders.filter((holder) => holder !== rack), rack].sort();
  const taken: AddressFacts = { ...facts, holders };
  if (held.unattached) return [{ ...taken, departed: null }];
  const before = { ...taken, departed: null };
  const present = others(topology, facts, rack);
  if (present.some((other) => other.rack.lostAt === null)) return [before];
  const own = standingVerdict(held.settled, topology.at);
  const lost = latest(present);
  if (lost !== null) {
    const isVirtual = own.class === "vip" || verdictOn(topology, lost.rack, lost.held).class === "vip";
    const move: VipMove = { from: lost.rack.report.rack, to: rack, at: topology.at, proves: false };
    return [isVirtual ? withMove(before, move, topology.at) : before];
  }
  const { departed } = facts;
  if (departed === null || departed.rack === rack || facts.owner === rack) return [before];
  const proves = topology.at - departed.at <= topology.times.moveWindowMs && canMove(own);
  if (!proves && !departed.virtual && own.class !== "vip") return [before];
  return [withMove(before, { from: departed.rack, to: rack, at: topology.at, proves }, topology.at)];
}

/** The connection to a rack was lost: a VIP that another rack took shortly before or since has moved there. */
export function holderLost(topology: Topology, lost: TopologyRack, address: IpAddress): readonly AddressFacts[] {
  const facts = topology.addresses.get(addressKey(lost.report.site, address));
  const held = lost.held.get(address);
  if (facts === undefined || held === undefined || held.unattached) return [];
  const standing = others(topology, facts, lost.report.rack).filter((other) => other.rack.lostAt === null);
  const successor = latest(standing.filter((other) => other.held.since >= held.since));
  if (successor === null || verdictOn(topology, lost, held).class !== "vip") return [];
  const move: VipMove = { from: lost.report.rack, to: successor.rack.report.rack, at: topology.at, proves: false };
  return [withMove(facts, move, successor.held.since)];
}

/** One and the same move is seen up to three times: when the holder is lost, when another takes over, when the first comes back without. */
function withMove(facts: AddressFacts, move: VipMove, notBefore: number): AddressFacts {
  const last = facts.moves.at(-1);
  const again = last?.from === move.from && last.to === move.to && last.at >= notBefore;
  const settled = again ? { ...last, proves: last.proves || move.proves } : move;
  const moves = [...(again ? facts.moves.slice(0, -1) : facts.moves), settled].slice(-MOVES_MAX);
  return { ...facts, moves, ...(settled.proves ? { proof: settled, owner: null } : {}) };
}

function nobodys(site: string, address: IpAddress): AddressFacts {
  return { site, address, holders: [], departed: null, owner: null, proof: null, moves: [] };
}

function others(topology: Topology, facts: AddressFacts, rack: string): readonly OtherHolder[] {
  return facts.holders.flatMap((holder) => {
    const other = holder === rack ? undefined : topology.racks.get(holder);
    const held = other?.held.get(facts.address);
    return other === undefined || held === undefined || held.unattached ? [] : [{ rack: other, held }];
  });
}

/** The newest holder; of equally new ones the first by id, so that order of arrival means nothing. */
function latest(holders: readonly OtherHolder[]): OtherHolder | null {
  return holders.reduce<OtherHolder | null>(
    (best, other) => (best === null || other.held.since > best.held.since ? other : best),
    null,
  );
}

function verdictOn(topology: Topology, rack: TopologyRack, held: Held): AddressVerdict {
  return fleetVerdict(topology, rack, standingVerdict(held.settled, topology.at));
}
