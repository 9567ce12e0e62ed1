import { addressFamily, compareAddresses, ipv4Number, type IpAddress } from "../address/ip.js";
import { rangeContains } from "../address/prefix.js";
import type { DesiredHost } from "../desired/schema.js";
import type { ZoneSources } from "../dns/compose.js";
import { hasPremadeNames } from "../dns/premade-names.js";
import type { Allocation, Subnet } from "../ipam/model.js";
import { premadeLabel } from "../names/premade.js";

/**
 * What a plan takes of one subnet's allocations, by address. It is a function of the subnet and its allocations alone, so whoever plans again and
 * again may keep it while neither changes; nobody changes its lists.
 */
export interface SubnetHolds {
  /** Those in the dynamic window, if there is one. */
  readonly inWindow: readonly IpAddress[];
  /** One a NIC; those of one allocation stand together. */
  readonly hosts: DesiredHost[];
  /** Those that no zone has by their pre-made name. */
  readonly named: readonly ZoneSources["allocations"][number][];
}

export function subnetHolds(subnet: Subnet, allocations: Iterable<Allocation>): SubnetHolds {
  const { window, prefix, domain } = subnet;
  const premade = hasPremadeNames(prefix);
  const inWindow: IpAddress[] = [];
  const hosts: DesiredHost[] = [];
  const named: SubnetHolds["named"][number][] = [];
  for (const { address, delivery, kind, name, nics } of sortedByAddress(allocations)) {
    if (window !== null && rangeContains(window, address)) inWindow.push(address);
    if (kind !== "vip" && delivery !== "config")
      for (const hardwareAddress of nics) hosts.push({ hardwareAddress, address, name });
    if (!premade || name !== `${premadeLabel(address)}.${domain}`) named.push({ subnetId: subnet.id, address, name });
  }
  return { inWindow, hosts, named };
}

const withoutMemory = new WeakMap<readonly DesiredHost[], { readonly gone: string; readonly left: DesiredHost[] }>();

/** The hosts without those addresses: the same list for the same question, so that what was made of it last can be known again. */
export function withoutAddresses(hosts: DesiredHost[], addresses: ReadonlySet<IpAddress>): DesiredHost[] {
  if (addresses.size === 0) return hosts;
  const gone = [...addresses].join();
  const known = withoutMemory.get(hosts);
  if (known?.gone === gone) return known.left;
  const left = hosts.filter(({ address }) => !addresses.has(address));
  withoutMemory.set(hosts, { gone, left });
  return left;
}

/** Numbers are read out of each address once, not at each comparison. */
function sortedByAddress(allocations: Iterable<Allocation>): readonly Allocation[] {
  const list = [...allocations];
  if (list.some(({ address }) => addressFamily(address) === 6))
    return list.sort((a, b) => compareAddresses(a.address, b.address));
  return list
    .map((allocation) => ({ allocation, at: ipv4Number(allocation.address) }))
    .sort((a, b) => a.at - b.at)
    .map(({ allocation }) => allocation);
}
