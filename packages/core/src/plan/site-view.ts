import type { IpAddress } from "../address/ip.js";
import { prefixAround, type IpPrefix } from "../address/prefix.js";
import { publishAddresses, publishedAddress } from "../interface/publish-addresses.js";
import { byFitness, realAddressOn } from "../interface/real-address-on.js";
import type { AddressVerdict } from "../interface/verdict.js";
import type { NameRecord, Reservation, Subnet } from "../ipam/model.js";
import { relayServerOf, servedSubnets } from "../ipam/served-subnets.js";
import { rackVerdicts } from "../topology/fleet-verdict.js";
import { topologyOf } from "../topology/from-rack-views.js";
import type { RackView } from "../topology/rack-view.js";
import { serversFor, type ServerLists } from "../topology/servers-for.js";
import type { Topology } from "../topology/topology.js";
import { groupBy, listedFacts, type LedgerFacts, type LedgerLists } from "./ledger-facts.js";
import type { ZoneComposer } from "./zone-composer.js";

/** Everything a plan is made from. Equal sources give equal plans. */
export type PlanSources = PlanCircumstances & (LedgerLists | { readonly facts: LedgerFacts });

interface PlanCircumstances {
  readonly subnets: readonly Subnet[];
  /** Left out, there are none. */
  readonly reservations?: readonly Reservation[];
  readonly records?: readonly NameRecord[];
  readonly racks: readonly RackView[];
  /** Milliseconds since 1970: what a lease or a rest still holds back depends on it. */
  readonly now: number;
  readonly policy: PlanPolicy;
  /** All racks' reports merged over time; left out, one is made of the racks' newest reports alone. */
  readonly topology?: Topology;
  /** Left out, zones are composed as if for the first time. */
  readonly composer?: ZoneComposer;
}

/** What an operator set for the whole region. */
export interface PlanPolicy {
  /** Resolvers that the racks ask for names that are not ours. */
  readonly forwarders: readonly IpAddress[];
  /** Mailbox in the SOA of every zone, in domain form; null is hostmaster of the zone's own domain. */
  readonly mailbox: string | null;
  /** Time servers that machines are given where no rack of their network answers. */
  readonly ntpUpstreams: readonly IpAddress[];
}

/** One site: equal prefixes of two sites are two networks, so nothing crosses it. */
export interface SiteView {
  readonly site: string;
  readonly subnets: readonly Subnet[];
  readonly facts: LedgerFacts;
  readonly reservations: ReadonlyMap<number, readonly Reservation[]>;
  /** Racks that reported interfaces, longest joined first. A rack that never did cannot be planned for. */
  readonly racks: readonly RackView[];
  readonly served: ReadonlyMap<string, readonly Subnet[]>;
  /** The racks of each served subnet, longest joined first. */
  readonly serving: ReadonlyMap<Subnet, readonly RackView[]>;
  /** By subnet; only those that a rack serves. */
  readonly servers: ReadonlyMap<number, ServerLists>;
  readonly topology: Topology;
}

/** The sites in the sources, by name. */
export function sitesOf(sources: PlanSources): readonly SiteView[] {
  const names = [...new Set([...sources.subnets, ...sources.racks].map(({ site }) => site))].sort();
  const facts = "facts" in sources ? sources.facts : listedFacts(sources);
  const reported = sources.racks.filter(({ interfaces }) => interfaces.length > 0);
  const topology = sources.topology ?? topologyOf(reported, sources.now, { ledgerVips: new Set(facts.vips()) });
  const reservations = groupBy(sources.reservations ?? [], ({ subnetId }) => [subnetId]);
  const subnetsOf = groupBy(sources.subnets, ({ site }) => [site]);
  const racksOf = groupBy(reported, ({ site }) => [site]);
  const lists = serverLists(topology, sources.policy);
  return names.map((site): SiteView => {
    const subnets = (subnetsOf.get(site) ?? []).toSorted((a, b) => a.id - b.id);
    const racks = (racksOf.get(site) ?? []).toSorted(byJoin);
    const served = new Map(racks.map((rack) => [rack.id, servedSubnets(subnets, rack, verdictsIn(topology, rack))]));
    const servers = new Map<number, ServerLists>();
    const serving = groupBy(racks, ({ id }) => served.get(id) ?? []);
    for (const subnet of subnets) {
      const ids = serving.get(subnet)?.map(({ id }) => id) ?? [];
      if (ids.length > 0) servers.set(subnet.id, lists(subnet, ids));
    }
    return { site, subnets, facts, reservations, racks, served, serving, servers, topology };
  });
}

/** The racks that serve a subnet, longest joined first. */
export function serversOf(view: SiteView, subnet: Subnet): readonly RackView[] {
  return view.serving.get(subnet) ?? [];
}

/** The address by which machines of the subnet know the rack: its real one there, or the one that their relays forward to. */
export function addressFor({ topology }: SiteView, rack: RackView, { dhcp, prefix }: Subnet): IpAddress | null {
  const verdicts = verdictsIn(topology, rack) ?? [];
  const real = realAddressOn(prefix, rack.interfaces, verdicts)?.address ?? null;
  return real ?? relayServerOf(dhcp, verdicts);
}

/**
 * Real addresses of a rack that others may be given, one on each of its networks, best first; never a VIP, also not one that only another rack knows
 * for a VIP. One a network, the same that the network's machines are given: an alias, or a VIP that nobody can tell from one yet, comes and goes
 * without a change to any zone.
 */
export function serverAddresses({ topology }: SiteView, rack: RackView): readonly IpAddress[] {
  const published = publishAddresses(rack.interfaces, verdictsIn(topology, rack) ?? []);
  const best = new Map<string, AddressVerdict>();
  for (const { verdict } of published) {
    const network = networkOf(verdict);
    const known = best.get(network);
    if (known === undefined || byFitness(verdict, known) < 0) best.set(network, verdict);
  }
  return published.filter(({ verdict }) => best.get(networkOf(verdict)) === verdict).map(publishedAddress);
}

/** Undefined for a rack that the topology does not have (yet): then its own report is all there is. */
function verdictsIn(topology: Topology, { id }: RackView): readonly AddressVerdict[] | undefined {
  const rack = topology.racks.get(id);
  return rack === undefined ? undefined : rackVerdicts(topology, rack);
}

function networkOf({ observed }: AddressVerdict): IpPrefix {
  return prefixAround(observed.address, observed.prefixLength);
}

/** Answers the servers that machines of a subnet are given; pinned ones as they stand. */
function serverLists(
  topology: Topology,
  { ntpUpstreams: upstreamNtp }: PlanPolicy,
): (subnet: Subnet, serving: readonly string[]) => ServerLists {
  // Where no rack of the region keeps time for others and no upstream is named, nobody misses what was never there.
  const keepsTime = upstreamNtp.length > 0 || [...topology.racks.values()].some(({ servers }) => servers.ntp === true);
  return (subnet, serving) => {
    const lists = serversFor(subnet, topology, { serving, dns: subnet.dns, ntp: subnet.ntp, upstreamNtp });
    return keepsTime ? lists : { ...lists, problems: lists.problems.filter(({ code }) => code !== "ntp-not-answering") };
  };
}

function byJoin(a: RackView, b: RackView): number {
  return a.joinedAt - b.joinedAt || (a.id < b.id ? -1 : 1);
}
