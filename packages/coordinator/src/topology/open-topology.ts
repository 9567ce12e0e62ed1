import {
  emptyTopology,
  mergeReport,
  noteConnection,
  reportOf,
  restoreRack,
  restoreTopology,
  type RackView,
  type RegionKnowledge,
  type Topology,
} from "@berth/core";
import type { TopologyStore } from "../store/store.js";

/**
 * The topology as a former run left it, with the racks' stored facts. A rack whose facts are not those its verdicts were made from (the process died
 * between two writes, or a former version wrote no verdicts) is judged anew. No rack is connected yet.
 */
export async function openTopology(
  store: TopologyStore,
  views: readonly RackView[],
  { knowledge, now }: { readonly knowledge: Partial<RegionKnowledge>; readonly now: number },
): Promise<Topology> {
  const stored = await store.load();
  const empty = emptyTopology(knowledge);
  const restart = { times: empty.times, lastAt: stored.seenAt ?? now, now };
  const byId = new Map(stored.racks.map((rack) => [rack.rack, rack]));
  const reported = views.filter(({ interfaces }) => interfaces.length > 0);
  const racks = reported.flatMap((view) => {
    const known = byId.get(view.id);
    return known === undefined ? [] : (restoreRack(known, reportOf(view, 0), restart) ?? []);
  });
  let topology = restoreTopology(empty, { racks, addresses: stored.addresses }, now);
  for (const view of reported) {
    if (topology.racks.get(view.id) !== undefined) continue;
    topology = mergeReport(topology, reportOf(view, 0), now).topology;
    topology = noteConnection(topology, { rack: view.id, connected: false }, now).topology;
  }
  return topology;
}
