import type { IpAddress } from "../address/ip.js";
import type { HostInterface, Neighbor } from "../interface/model.js";
import type { SettledVerdict } from "../interface/settle-verdicts.js";
import type { Problem } from "../problem.js";
import { PersistentMap } from "./persistent-map.js";

/** What the region as a whole knows of addresses. */
export interface RegionKnowledge {
  /** Configured region-wide as somebody's real address. */
  readonly real: ReadonlySet<IpAddress>;
  /** Configured region-wide as virtual. */
  readonly vips: ReadonlySet<IpAddress>;
  /** Virtual addresses of the ledger. */
  readonly ledgerVips: ReadonlySet<IpAddress>;
}

/** Times of the rules, in milliseconds. */
export interface TopologyTimes {
  /** Two hosts may both hold a VIP for this long while it moves. */
  readonly failoverMs: number;
  /** A rack not heard from for this long is stale. */
  readonly staleMs: number;
  /** An address that turns up elsewhere within this time after it left has moved; later it was given anew. */
  readonly moveWindowMs: number;
  /** A rack's clock may be off by this much. */
  readonly skewMs: number;
}

export const TOPOLOGY_TIMES: TopologyTimes = { failoverMs: 10_000, staleMs: 60_000, moveWindowMs: 600_000, skewMs: 60_000 };

/** What a rack's agent said of its host at one moment, whole. */
export interface RackReport {
  /** The rack's own id: the identity. Never an address, never where the connection came from. */
  readonly rack: string;
  readonly name: string;
  readonly site: string;
  /** The coordinator's number of the connection and the agent's of the report: both grow, their order is the order of the facts. Clocks are not asked. */
  readonly session: number;
  readonly sequence: number;
  readonly interfaces: readonly HostInterface[];
  readonly neighbors?: readonly Neighbor[];
  /** The agent's own configuration. */
  readonly real?: ReadonlySet<IpAddress>;
  readonly vips?: ReadonlySet<IpAddress>;
  readonly leasedToSelf?: ReadonlySet<IpAddress>;
  /** The rack's wall clock when it sent the report, milliseconds since 1970. */
  readonly rackTime?: number;
}

/** Whether the rack's servers answer its agent; null is not yet known. */
export interface RackServers {
  readonly dns: boolean | null;
  readonly ntp: boolean | null;
}

/** One address that a rack has now. */
export interface Held {
  readonly settled: SettledVerdict;
  /** Since when the region knows it there without a break. */
  readonly since: number;
  /** On lo or a dummy: many hosts may have it (anycast, LVS). */
  readonly unattached: boolean;
}

export interface TopologyRack {
  readonly report: RackReport;
  readonly reportedAt: number;
  /** When the connection was lost; null while it stands. */
  readonly lostAt: number | null;
  /** The connection was lost then, and no report came since. */
  readonly gapFrom: number | null;
  /** When it stood again; null when it was never lost, or still is. */
  readonly backAt: number | null;
  /** By interface, address and prefix length. */
  readonly settled: ReadonlyMap<string, SettledVerdict>;
  /** Real and virtual addresses, one entry each. */
  readonly held: ReadonlyMap<IpAddress, Held>;
  readonly problems: readonly Problem[];
  readonly servers: RackServers;
  /** How far the rack's clock is ahead, milliseconds; null when it did not say. */
  readonly skewMs: number | null;
  /** Addresses that left this rack, oldest first; bounded. */
  readonly left: readonly IpAddress[];
}

/** A virtual address went from one rack to another. */
export interface VipMove {
  readonly from: string;
  readonly to: string;
  readonly at: number;
  /** It took at most a failover's time, which no renumbering does: whatever the prefix length says, the address is virtual. */
  readonly proves: boolean;
}

/** Everything about one address of a site that concerns more than one rack. */
export interface AddressFacts {
  readonly site: string;
  readonly address: IpAddress;
  /** Racks that have it, sorted. */
  readonly holders: readonly string[];
  /** Last of them that gave it up, and when, while nobody took it. */
  readonly departed: { readonly rack: string; readonly at: number; readonly virtual: boolean } | null;
  /** Had it for its own while another took it for longer than a failover: may come back to it without having made it virtual. */
  readonly owner: string | null;
  /** The move that proved it virtual; stays. */
  readonly proof: VipMove | null;
  /** Newest last; bounded. */
  readonly moves: readonly VipMove[];
}

/**
 * All racks' observations merged. Never changed in place; derived, and rebuilt from the racks' next reports after a restart. `at` is the time
 * for which it speaks: see {@link advanceTopology}.
 */
export interface Topology {
  readonly at: number;
  readonly times: TopologyTimes;
  readonly knowledge: RegionKnowledge;
  readonly racks: PersistentMap<TopologyRack>;
  /** By site and address, {@link addressKey}. */
  readonly addresses: PersistentMap<AddressFacts>;
  /** Keys of addresses with more than one holder. */
  readonly shared: PersistentMap<true>;
}

export type TopologyEvent =
  | ({ readonly type: "vip-moved"; readonly site: string; readonly address: IpAddress } & VipMove)
  /** An empty report tells that the scan failed, an older one that it was overtaken: neither changes anything. */
  | { readonly type: "report-ignored"; readonly rack: string; readonly why: "empty" | "overtaken" }
  | { readonly type: "clock-skew"; readonly rack: string; readonly skewMs: number };

export interface TopologyStep {
  readonly topology: Topology;
  readonly events: readonly TopologyEvent[];
}

const NOTHING: ReadonlySet<IpAddress> = new Set();

export function emptyTopology(knowledge: Partial<RegionKnowledge> = {}, times: Partial<TopologyTimes> = {}): Topology {
  return {
    at: 0,
    times: { ...TOPOLOGY_TIMES, ...times },
    knowledge: { real: NOTHING, vips: NOTHING, ledgerVips: NOTHING, ...knowledge },
    racks: PersistentMap.empty(),
    addresses: PersistentMap.empty(),
    shared: PersistentMap.empty(),
  };
}

/** Equal private addresses in two sites are two addresses. */
export function addressKey(site: string, address: IpAddress): string {
  return `${address} ${site}`;
}

export function isStale(topology: Topology, facts: TopologyRack): boolean {
  return facts.lostAt !== null && topology.at - facts.lostAt >= topology.times.staleMs;
}

/**
 * Until when somebody vouched for the rack's facts: now, but in a gap. A rack that is back tells at once what changed meanwhile; if nothing came for a
 * failover's time, nothing changed.
 */
export function vouchedUntil(
  topology: Pick<Topology, "at" | "times">,
  { gapFrom, backAt }: Pick<TopologyRack, "gapFrom" | "backAt">,
): number {
  if (gapFrom === null) return topology.at;
  const resumed = backAt !== null && topology.at - backAt > topology.times.failoverMs;
  return resumed ? topology.at : gapFrom;
}

/** The same facts, seen from a later moment: classes settle, racks grow stale, overlaps grow too long. Time never goes back. */
export function advanceTopology(topology: Topology, now: number): Topology {
  return now > topology.at ? { ...topology, at: now } : topology;
}
