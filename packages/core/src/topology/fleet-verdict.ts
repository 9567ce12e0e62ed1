import { standingVerdict } from "../interface/settle-verdicts.js";
import { CONFIDENT, isDynamic, isHostWidth, type AddressVerdict } from "../interface/verdict.js";
import { addressKey, type TopologyRack, type Topology } from "./topology.js";

/**
 * A rack's own verdict on an address in the light of all the others': one that moved within a failover's time is virtual, and so is one that another
 * rack reports as virtual, unless this rack holds it for surely its own (a VIP manager may grab a peer's real address). Configuration is never
 * overruled.
 */
export function fleetVerdict(topology: Topology, rack: TopologyRack, verdict: AddressVerdict): AddressVerdict {
  if (verdict.class !== "real" || verdict.step === 1) return verdict;
  const { address } = verdict.observed;
  const facts = topology.addresses.get(addressKey(rack.report.site, address));
  if (facts === undefined) return verdict;
  if (facts.proof !== null && canMove(verdict)) {
    const { from, to } = facts.proof;
    return virtual(verdict, 0.95, `it moved from ${nameOf(topology, from)} to ${nameOf(topology, to)}`);
  }
  if (verdict.confidence >= CONFIDENT) return verdict;
  const claimant = facts.holders.find(
    (holder) => holder !== rack.report.rack && ownVerdict(topology, holder, verdict)?.class === "vip",
  );
  return claimant === undefined ? verdict : virtual(verdict, 0.9, `${nameOf(topology, claimant)} reports it as virtual`);
}

/** All verdicts of a rack as they count at the topology's time, in kernel order. */
export function rackVerdicts(topology: Topology, rack: TopologyRack): readonly AddressVerdict[] {
  return [...rack.settled.values()].map((entry) => fleetVerdict(topology, rack, standingVerdict(entry, topology.at)));
}

/** A lease of a whole network's size goes to another host in the course of things. Clouds and kube-vip lease single addresses. */
export function canMove(verdict: AddressVerdict): boolean {
  if (verdict.step === 1 && verdict.class === "real") return false;
  if (verdict.class === "vip") return false; // its looks say so already: a move proves nothing new
  return !isDynamic(verdict.observed) || isHostWidth(verdict.observed);
}

export function nameOf(topology: Topology, rack: string): string {
  return topology.racks.get(rack)?.report.name ?? rack;
}

function ownVerdict(topology: Topology, rack: string, verdict: AddressVerdict): AddressVerdict | undefined {
  const held = topology.racks.get(rack)?.held.get(verdict.observed.address);
  return held === undefined ? undefined : standingVerdict(held.settled, topology.at);
}

function virtual(verdict: AddressVerdict, confidence: number, reason: string): AddressVerdict {
  return { ...verdict, class: "vip", confidence, reasons: [reason, ...verdict.reasons], step: 0 };
}
