import { noteConnection, noteServers } from "./connection.js";
import { mergeReport } from "./merge.js";
import type { RackView } from "./rack-view.js";
import { advanceTopology, emptyTopology, type RackServers, type RegionKnowledge, type Topology } from "./topology.js";

/**
 * A topology from what is known of each rack now, without history: for one-off questions, and the start of a region from its store. A long-lived one
 * is kept by {@link mergeReport}, which sees addresses move.
 */
export function topologyOf(views: readonly RackView[], now: number, knowledge: Partial<RegionKnowledge> = {}): Topology {
  const ordered = [...views].sort((a, b) => (a.interfacesAt ?? now) - (b.interfacesAt ?? now) || (a.id < b.id ? -1 : 1));
  let topology = emptyTopology(knowledge);
  for (const view of ordered) {
    const { id: rack, name, site, interfaces } = view;
    const report = { rack, name, site, interfaces, session: 0, sequence: 1 };
    topology = mergeReport(topology, report, view.interfacesAt ?? now).topology;
    topology = noteServers(topology, { rack, servers: serversOf(view) }, topology.at);
  }
  for (const view of ordered) {
    if (!view.connected)
      topology = noteConnection(topology, { rack: view.id, connected: false }, view.lastSeenAt ?? now).topology;
  }
  return advanceTopology(topology, now);
}

/** named answers where its daemon has converged; nothing tells of NTP here. */
export function serversOf({ daemons }: Pick<RackView, "daemons">): RackServers {
  const named = daemons.find((daemon) => daemon.name === "named");
  if (named === undefined || named.state === "converging") return { dns: null, ntp: null };
  return { dns: named.state === "converged", ntp: null };
}
