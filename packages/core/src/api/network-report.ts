import { ipPrefix } from "../address/prefix.js";
import { comparePrefixes } from "../interface/covering-prefix.js";
import type { Subnet } from "../ipam/model.js";
import { nameOf } from "../topology/fleet-verdict.js";
import { discrepancies, observedNetworks } from "../topology/networks.js";
import { segments, type Segment } from "../topology/segments.js";
import type { Topology } from "../topology/topology.js";
import type { NetworkView } from "./network.js";

/** What racks are on beside what is declared, by site, then numeric. Subnets are never made from it: an operator decides. */
export function viewNetworks(topology: Topology, subnets: readonly Subnet[]): readonly NetworkView[] {
  const found = discrepancies(topology);
  const bySegment = segmentOfNetworks(topology);
  const declared = new Map(subnets.map((subnet) => [`${subnet.prefix} ${subnet.site}`, subnet]));
  const views = observedNetworks(topology).map(({ site, prefix, racks }): NetworkView => {
    const key = `${prefix} ${site}`;
    const subnet = declared.get(key);
    declared.delete(key);
    return {
      site,
      prefix,
      state: subnet === undefined ? "proposed" : "declared",
      subnet: subnet?.id ?? null,
      racks: racks
        .map(({ rack, addresses }) => ({ name: nameOf(topology, rack), addresses: [...addresses] }))
        .sort((a, b) => compareText(a.name, b.name)),
      segment: bySegment.get(key) ?? null,
      discrepancies: found
        .filter((entry) => entry.site === site && entry.subjects.includes(prefix))
        .map(({ message }) => message),
    };
  });
  for (const { id, site, prefix } of declared.values())
    views.push({ site, prefix, state: "unseen", subnet: id, racks: [], segment: null, discrepancies: [] });
  return views.sort((a, b) => compareText(a.site, b.site) || comparePrefixes(ipPrefix(a.prefix), ipPrefix(b.prefix)));
}

function segmentOfNetworks(topology: Topology): ReadonlyMap<string, NonNullable<NetworkView["segment"]>> {
  const found = new Map<string, NonNullable<NetworkView["segment"]>>();
  for (const segment of segments(topology)) {
    const view = viewSegment(topology, segment);
    for (const prefix of segment.prefixes) found.set(`${prefix} ${segment.site}`, view);
  }
  return found;
}

function viewSegment(topology: Topology, { members }: Segment): NonNullable<NetworkView["segment"]> {
  const named = members
    .map(({ rack, interfaceName }) => ({ rack: nameOf(topology, rack), interface: interfaceName }))
    .sort((a, b) => compareText(`${a.rack} ${a.interface}`, `${b.rack} ${b.interface}`));
  const [first] = named;
  return { name: first === undefined ? "" : `${first.rack}/${first.interface}`, members: named };
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
