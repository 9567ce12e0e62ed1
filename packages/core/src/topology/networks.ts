import { compareAddresses, type IpAddress } from "../address/ip.js";
import { prefixLength, prefixNetwork, prefixesOverlap, type IpPrefix } from "../address/prefix.js";
import { comparePrefixes, networksOf } from "../interface/covering-prefix.js";
import { rackVerdicts } from "./fleet-verdict.js";
import type { Topology } from "./topology.js";

/** A network that racks have addresses in. Observation proposes it; only an operator makes it a subnet. */
export interface ObservedNetwork {
  readonly site: string;
  readonly prefix: IpPrefix;
  /** Racks by id, sorted, with their real addresses there. */
  readonly racks: readonly { readonly rack: string; readonly addresses: readonly IpAddress[] }[];
}

/** Two racks' observations disagree: data for an operator, nothing follows from it by itself. */
export interface Discrepancy {
  readonly code: "prefix-length-differs" | "prefix-overlaps" | "class-differs";
  readonly site: string;
  /** The prefixes or the address concerned. */
  readonly subjects: readonly string[];
  readonly racks: readonly string[];
  readonly message: string;
}

/** All networks of all sites; by site, then numeric. */
export function observedNetworks(topology: Topology): readonly ObservedNetwork[] {
  const networks = new Map<string, { site: string; prefix: IpPrefix; racks: Map<string, IpAddress[]> }>();
  for (const facts of topology.racks.values()) {
    const { site, rack } = facts.report;
    for (const verdict of rackVerdicts(topology, facts)) {
      const [prefix] = networksOf([verdict]);
      if (prefix === undefined) continue;
      const key = `${prefix} ${site}`;
      const network = networks.get(key) ?? { site, prefix, racks: new Map<string, IpAddress[]>() };
      networks.set(key, network);
      network.racks.set(rack, [...(network.racks.get(rack) ?? []), verdict.observed.address]);
    }
  }
  return [...networks.values()]
    .map(({ site, prefix, racks }) => ({
      site,
      prefix,
      racks: [...racks]
        .map(([rack, addresses]) => ({ rack, addresses: addresses.sort(compareAddresses) }))
        .sort((a, b) => compareText(a.rack, b.rack)),
    }))
    .sort((a, b) => compareText(a.site, b.site) || comparePrefixes(a.prefix, b.prefix));
}

/** Networks of one site that overlap without being equal, and addresses that two racks judge differently. */
export function discrepancies(topology: Topology): readonly Discrepancy[] {
  return [...prefixDiscrepancies(observedNetworks(topology)), ...classDiscrepancies(topology)];
}

/** In numeric order an overlapping network follows its wider one before anything outside it comes. */
function prefixDiscrepancies(networks: readonly ObservedNetwork[]): readonly Discrepancy[] {
  const found: Discrepancy[] = [];
  let around: ObservedNetwork[] = [];
  for (const network of networks) {
    around = around.filter((wider) => wider.site === network.site && prefixesOverlap(wider.prefix, network.prefix));
    for (const wider of around) found.push(overlap(wider, network));
    around.push(network);
  }
  return found;
}

function overlap(wider: ObservedNetwork, inner: ObservedNetwork): Discrepancy {
  const sameStart = prefixNetwork(wider.prefix) === prefixNetwork(inner.prefix);
  const racks = [...new Set([...wider.racks, ...inner.racks].map(({ rack }) => rack))].sort();
  return {
    code: sameStart ? "prefix-length-differs" : "prefix-overlaps",
    site: wider.site,
    subjects: [wider.prefix, inner.prefix],
    racks,
    message: sameStart
      ? `one network with two prefix lengths, /${prefixLength(wider.prefix)} and /${prefixLength(inner.prefix)}`
      : `${inner.prefix} lies inside ${wider.prefix}`,
  };
}

function classDiscrepancies(topology: Topology): readonly Discrepancy[] {
  const found: Discrepancy[] = [];
  for (const [key] of topology.shared.entries()) {
    const facts = topology.addresses.get(key);
    if (facts === undefined) continue;
    const classes = new Set<string>();
    for (const holder of facts.holders) {
      const rack = topology.racks.get(holder);
      if (rack === undefined) continue;
      const own = rackVerdicts(topology, rack).filter(({ observed }) => observed.address === facts.address);
      for (const { class: kind } of own) classes.add(kind);
    }
    if (classes.size < 2) continue;
    found.push({
      code: "class-differs",
      site: facts.site,
      subjects: [facts.address],
      racks: facts.holders,
      message: `${facts.address} is ${[...classes].sort().join(" on one rack and ")} on another`,
    });
  }
  return found.sort((a, b) => compareText(a.subjects[0] ?? "", b.subjects[0] ?? "") || compareText(a.site, b.site));
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
