import type { IpAddress } from "../address/ip.js";
import { addressFamily, compareAddresses } from "../address/ip.js";
import { publishAddresses, publishedAddress } from "../interface/publish-addresses.js";
import { realAddressesOn } from "../interface/real-address-on.js";
import type { Allocation, Quarantine, Subnet } from "../ipam/model.js";
import { servedSubnets, verdictsOf } from "../ipam/served-subnets.js";
import type { RackView } from "../topology/rack-view.js";

/** Everything a plan is made from. Equal sources give equal plans. */
export interface PlanSources {
  readonly subnets: readonly Subnet[];
  readonly allocations: readonly Allocation[];
  readonly quarantines: readonly Quarantine[];
  readonly racks: readonly RackView[];
  /** Milliseconds since 1970: what a lease or a rest still holds back depends on it. */
  readonly now: number;
  readonly policy: PlanPolicy;
}

/** What an operator set for the whole region. */
export interface PlanPolicy {
  /** Resolvers that the racks ask for names that are not ours. */
  readonly forwarders: readonly IpAddress[];
  /** Mailbox in the SOA of every zone, in domain form; null is hostmaster of the zone's own domain. */
  readonly mailbox: string | null;
}

/** One site: equal prefixes of two sites are two networks, so nothing crosses it. */
export interface SiteView {
  readonly site: string;
  readonly subnets: readonly Subnet[];
  /** By subnet, in the order of their addresses. */
  readonly allocations: ReadonlyMap<number, readonly Allocation[]>;
  readonly quarantines: ReadonlyMap<number, readonly Quarantine[]>;
  /** Racks that reported interfaces, longest joined first. A rack that never did cannot be planned for. */
  readonly racks: readonly RackView[];
  readonly served: ReadonlyMap<string, readonly Subnet[]>;
}

/** The sites in the sources, by name. */
export function sitesOf(sources: PlanSources): readonly SiteView[] {
  const names = [...new Set([...sources.subnets, ...sources.racks].map(({ site }) => site))].sort();
  const allocations = groupBy(sources.allocations.toSorted(byAddress), ({ subnetId }) => subnetId);
  const quarantines = groupBy(sources.quarantines.toSorted(byAddress), ({ subnetId }) => subnetId);
  return names.map((site) => {
    const subnets = sources.subnets.filter((subnet) => subnet.site === site).sort((a, b) => a.id - b.id);
    const racks = sources.racks.filter((rack) => rack.site === site && rack.interfaces.length > 0).sort(byJoin);
    const served = new Map(racks.map((rack) => [rack.id, servedSubnets(subnets, rack)]));
    return { site, subnets, allocations, quarantines, racks, served };
  });
}

/** The racks that serve a subnet, longest joined first. */
export function serversOf(view: SiteView, subnet: Subnet): readonly RackView[] {
  return view.racks.filter(({ id }) => view.served.get(id)?.includes(subnet) === true);
}

/** Real addresses of a rack that others may be given, best first; never a VIP. */
export function serverAddresses(rack: RackView): readonly IpAddress[] {
  return publishAddresses(rack.interfaces, verdictsOf(rack)).map(publishedAddress);
}

/** A resolver list longer than this helps nobody: resolv.conf(5) reads three. */
const SERVERS_MAX = 3;

/**
 * Servers for a subnet: the racks that serve it by their real addresses on it, then real addresses of the site's other racks, each in
 * numeric order. All that serve are named; others only fill up to three.
 */
export function racksAsServers(view: SiteView, subnet: Subnet): readonly IpAddress[] {
  const serving = serversOf(view, subnet);
  const near = serving.flatMap((rack) => realAddressesOn(subnet.prefix, rack.interfaces, verdictsOf(rack)).slice(0, 1));
  const far = view.racks.filter((rack) => !serving.includes(rack)).flatMap(serverAddresses);
  const first = near.map(({ address }) => address).sort(compareAddresses);
  const rest = far.filter((address) => addressFamily(address) === 4).sort(compareAddresses);
  return [...new Set([...first, ...rest.slice(0, Math.max(SERVERS_MAX - first.length, 0))])];
}

function byJoin(a: RackView, b: RackView): number {
  return a.joinedAt - b.joinedAt || (a.id < b.id ? -1 : 1);
}

function byAddress(a: { readonly address: IpAddress }, b: { readonly address: IpAddress }): number {
  return compareAddresses(a.address, b.address);
}

function groupBy<Key, T>(items: readonly T[], keyOf: (item: T) => Key): Map<Key, T[]> {
  const groups = new Map<Key, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}
