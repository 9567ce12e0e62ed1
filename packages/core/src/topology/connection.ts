import type { IpAddress } from "../address/ip.js";
import { holderLost, MOVES_MAX } from "./address-moves.js";
import { rejudgeRack } from "./merge.js";
import {
  addressKey,
  advanceTopology,
  type TopologyStep,
  type TopologyRack,
  type RackServers,
  type RegionKnowledge,
  type Topology,
  type TopologyEvent,
  vouchedUntil,
} from "./topology.js";

/** The connection to a rack was lost, or stands again. Its facts stay: silence makes them stale, nothing deletes them. */
export function noteConnection(
  topology: Topology,
  { rack, connected }: { readonly rack: string; readonly connected: boolean },
  now: number,
): TopologyStep {
  const current = advanceTopology(topology, now);
  const known = current.racks.get(rack);
  if (known === undefined || (known.lostAt === null) === connected) return { topology: current, events: [] };
  if (connected) return { topology: withRack(current, { ...known, lostAt: null, backAt: now }), events: [] };
  let { addresses } = current;
  const events: TopologyEvent[] = [];
  for (const address of known.held.keys()) {
    for (const facts of holderLost(current, known, address)) {
      const move = facts.moves.at(-1);
      const before = addresses.get(addressKey(facts.site, address))?.moves.length ?? 0;
      if (move !== undefined && facts.moves.length > before)
        events.push({ type: "vip-moved", site: facts.site, address, ...move });
      addresses = addresses.set(addressKey(facts.site, address), facts);
    }
  }
  const gapFrom = Math.min(vouchedUntil(current, known), now);
  const lost: TopologyRack = { ...known, lostAt: now, gapFrom, backAt: null };
  return { topology: withRack({ ...current, addresses }, lost), events };
}

/** What the agent found when it asked its own host's servers. */
export function noteServers(
  topology: Topology,
  { rack, servers }: { readonly rack: string; readonly servers: RackServers },
  now: number,
): Topology {
  const current = advanceTopology(topology, now);
  const known = current.racks.get(rack);
  if (known === undefined || (known.servers.dns === servers.dns && known.servers.ntp === servers.ntp)) return current;
  return withRack(current, { ...known, servers });
}

/** Configuration or the ledger's virtual addresses changed: only racks that have one of the addresses concerned are judged anew. */
export function noteKnowledge(topology: Topology, knowledge: RegionKnowledge, now: number): TopologyStep {
  const before = topology.knowledge;
  const concerned = new Set<IpAddress>();
  for (const list of ["real", "vips", "ledgerVips"] as const) {
    for (const address of knowledge[list]) if (!before[list].has(address)) concerned.add(address);
    for (const address of before[list]) if (!knowledge[list].has(address)) concerned.add(address);
  }
  let merged: TopologyStep = { topology: { ...advanceTopology(topology, now), knowledge }, events: [] };
  if (concerned.size === 0) return merged;
  for (const { report, settled } of topology.racks.values()) {
    if (![...settled.values()].some(({ verdict }) => concerned.has(verdict.observed.address))) continue;
    const next = rejudgeRack(merged.topology, report.rack);
    merged = { topology: next.topology, events: [...merged.events, ...next.events] };
  }
  return merged;
}

/**
 * Moves that a former run of this region saw, oldest first: what proved an address virtual must outlive a restart, reports tell only the present.
 */
export function recallMoves(topology: Topology, events: readonly (TopologyEvent & { readonly type: "vip-moved" })[]): Topology {
  let { addresses } = topology;
  for (const { site, address, from, to, at, proves } of events) {
    const key = addressKey(site, address);
    const facts = addresses.get(key) ?? { site, address, holders: [], departed: null, owner: null, proof: null, moves: [] };
    const move = { from, to, at, proves };
    addresses = addresses.set(key, {
      ...facts,
      moves: [...facts.moves, move].slice(-MOVES_MAX),
      proof: proves ? move : facts.proof,
    });
  }
  return { ...topology, addresses };
}

function withRack(topology: Topology, facts: TopologyRack): Topology {
  return { ...topology, racks: topology.racks.set(facts.report.rack, facts) };
}
