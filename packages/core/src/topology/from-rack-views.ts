import { noteConnection, noteServers } from "./connection.js";
import { mergeReport } from "./merge.js";
import type { RackView } from "./rack-view.js";
import {
  advanceTopology,
  emptyTopology,
  type RackReport,
  type RackServers,
  type RegionKnowledge,
  type Topology,
} from "./topology.js";

/**
 * A topology from what is known of each rack now, without history: for one-off questions, and the start of a region from its store. A long-lived one
 * is kept by {@link mergeReport}, which sees addresses move.
 */
export function topologyOf(views: readonly RackView[], now: number, knowledge: Partial<RegionKnowledge> = {}): Topology {
  const ordered = [...views].sort((a, b) => (a.interfacesAt ?? now) - (b.interfacesAt ?? now) || (a.id < b.id ? -1 : 1));
  let topology = emptyTopology(knowledge);
  for (const view of ordered) {
    const { id: rack } = view;
    topology = mergeReport(topology, reportOf(view, 1), view.interfacesAt ?? now).topology;
    topology = noteServers(topology, { rack, servers: serversOf(view) }, topology.at);
  }
  for (const view of ordered) {
    if (!view.connected)
      topology = noteConnection(topology, { rack: view.id, connected: false }, view.lastSeenAt ?? now).topology;
  }
  return advanceTopology(topology, now);
}

/** What a rack reported, for the merge. The registry has put its reports in order, whatever connection they came on, so `sequence` alone orders them. */
export function reportOf({ id, name, site, interfaces, knowledge }: RackView, sequence: number): RackReport {
  const report = { rack: id, name, site, interfaces, session: 0, sequence };
  if (knowledge === undefined || knowledge === null) return report;
  return {
    ...report,
    real: new Set(knowledge.real),
    vips: new Set(knowledge.vips),
    leasedToSelf: new Set(knowledge.leasedToSelf),
    neighbors: knowledge.neighbors.map((neighbor) => ({ ...neighbor, states: [] })),
  };
}

/** named answers where its daemon has converged; the rack asks its own NTP server. */
export function serversOf({ daemons, ntp = null }: Pick<RackView, "daemons" | "ntp">): RackServers {
  const named = daemons.find((daemon) => daemon.name === "named");
  const dns = named === undefined || named.state === "converging" ? null : named.state === "converged";
  return { dns, ntp };
}
