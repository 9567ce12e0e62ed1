import { noteConnection, noteServers } from "./connection.js";
import { serversOf } from "./from-rack-views.js";
import { mergeReport } from "./merge.js";
import type { RackView } from "./rack-view.js";
import { advanceTopology, type Topology, type TopologyEvent, type TopologyStep } from "./topology.js";

/**
 * Brings one rack's newest view into a topology that is kept: its report if it is another one than before (lists of interfaces are replaced, never
 * changed), its connection, its servers. Costs nothing where nothing is new.
 */
export function mergeView(topology: Topology, view: RackView, now: number): TopologyStep {
  const events: TopologyEvent[] = [];
  const take = (step: TopologyStep): Topology => {
    events.push(...step.events);
    return step.topology;
  };
  const { id: rack, connected } = view;
  const known = topology.racks.get(rack);
  let current = advanceTopology(topology, now);
  if (connected) current = take(noteConnection(current, { rack, connected }, now));
  if (view.interfaces.length > 0 && isNews(topology, view)) {
    const { name, site, interfaces } = view;
    const sequence = (known?.report.sequence ?? 0) + 1;
    current = take(mergeReport(current, { rack, name, site, interfaces, session: 0, sequence }, now));
  }
  // A rack that is known from the store only was last vouched for when it was last heard.
  const lostAt = known === undefined ? (view.lastSeenAt ?? now) : now;
  if (!connected) current = take(noteConnection(current, { rack, connected }, lostAt));
  return { topology: noteServers(current, { rack, servers: serversOf(view) }, now), events };
}

function isNews(topology: Topology, { id, name, site, interfaces }: RackView): boolean {
  const known = topology.racks.get(id)?.report;
  return known?.interfaces !== interfaces || known.name !== name || known.site !== site;
}
