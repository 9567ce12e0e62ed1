import { SETTLE_MS } from "../interface/settle-verdicts.js";
import { isStale, type Topology } from "./topology.js";

/**
 * When the topology next tells something else although nobody reports anything: a class settles, two holders of a VIP are there for longer than a
 * failover, a silent rack grows stale. Milliseconds since 1970, later than the topology's own time; null for never. Costs a look at every rack.
 */
export function nextChange(topology: Topology): number | null {
  const { at, times } = topology;
  let next = Infinity;
  const consider = (time: number): void => {
    if (time > at && time < next) next = time;
  };
  for (const facts of topology.racks.values()) {
    if (facts.lostAt !== null && !isStale(topology, facts)) consider(facts.lostAt + times.staleMs);
    for (const { pending } of facts.settled.values()) if (pending !== null) consider(pending.since + SETTLE_MS);
  }
  for (const [key] of topology.shared.entries()) {
    const facts = topology.addresses.get(key);
    if (facts === undefined) continue;
    const since = facts.holders.map((rack) => topology.racks.get(rack)?.held.get(facts.address)?.since ?? 0);
    // The first holder has nobody beside it: an overlap begins with the second.
    for (const begun of since.sort((a, b) => a - b).slice(1)) consider(begun + times.failoverMs);
  }
  return next === Infinity ? null : next;
}
