import { compareAddresses, type IpAddress } from "../address/ip.js";
import { standingVerdict } from "../interface/settle-verdicts.js";
import { fleetVerdict } from "./fleet-verdict.js";
import { addressKey, isStale, type AddressFacts, type Held, type TopologyRack, type Topology, type VipMove } from "./topology.js";

/** A rack that has an address now, as far as the region can know. */
export interface Holder {
  readonly rack: string;
  readonly name: string;
  readonly interfaceName: string;
  readonly since: number;
  /** Its connection is lost: nobody vouches for it now. */
  readonly lost: boolean;
  readonly stale: boolean;
  /** On lo or a dummy, where many may have it. */
  readonly unattached: boolean;
}

/** A virtual address with who holds it (nobody, one, or too many) and where it was. */
export interface VirtualAddress {
  readonly site: string;
  readonly address: IpAddress;
  readonly holders: readonly Holder[];
  readonly moves: readonly VipMove[];
}

/**
 * Who holds an address: the racks whose connection stands; only if there is none, the one that reported last. A newer report ends the claim of a
 * rack that went silent.
 */
export function holdersOf(topology: Topology, site: string, address: IpAddress): readonly Holder[] {
  const facts = topology.addresses.get(addressKey(site, address));
  return facts === undefined ? [] : currentHolders(topology, facts).map(({ rack, held }) => holder(topology, rack, held));
}

/** All addresses that count as virtual, and those that once moved, by site and address. */
export function virtualAddresses(topology: Topology): readonly VirtualAddress[] {
  const found: VirtualAddress[] = [];
  for (const facts of topology.addresses.values()) {
    const current = currentHolders(topology, facts);
    if (facts.moves.length === 0 && !current.some((entry) => isVirtual(topology, entry))) continue;
    const holders = current.map(({ rack, held }) => holder(topology, rack, held));
    found.push({ site: facts.site, address: facts.address, holders, moves: facts.moves });
  }
  return found.sort((a, b) => (a.site === b.site ? compareAddresses(a.address, b.address) : compareText(a.site, b.site)));
}

export interface CurrentHolder {
  readonly rack: TopologyRack;
  readonly held: Held;
}

export function currentHolders(topology: Topology, facts: AddressFacts): readonly CurrentHolder[] {
  const all = facts.holders.flatMap((id): readonly CurrentHolder[] => {
    const rack = topology.racks.get(id);
    const held = rack?.held.get(facts.address);
    return rack === undefined || held === undefined ? [] : [{ rack, held }];
  });
  const standing = all.filter(({ rack }) => rack.lostAt === null);
  if (standing.length > 0 || all.length < 2) return standing.length > 0 ? standing : all;
  const newest = all.reduce((best, entry) => (entry.rack.reportedAt > best.rack.reportedAt ? entry : best));
  return [newest];
}

export function isVirtual(topology: Topology, { rack, held }: CurrentHolder): boolean {
  return fleetVerdict(topology, rack, standingVerdict(held.settled, topology.at)).class === "vip";
}

function holder(topology: Topology, rack: TopologyRack, held: Held): Holder {
  return {
    rack: rack.report.rack,
    name: rack.report.name,
    interfaceName: held.settled.verdict.interfaceName,
    since: held.since,
    lost: rack.lostAt !== null,
    stale: isStale(topology, rack),
    unattached: held.unattached,
  };
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
