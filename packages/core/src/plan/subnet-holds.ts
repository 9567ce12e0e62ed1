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
  readonly inWindow: IpAddress[];
  /** One a NIC; those of one allocation stand together. */
  readonly hosts: DesiredHost[];
  /** Those that no zone has by their pre-made name. */
  readonly named: ZoneSources["allocations"][number][];
}

export function subnetHolds(subnet: Subnet, allocations: Iterable<Allocation>): SubnetHolds {
  return holdsInOrder(subnet, sortedByAddress(allocations));
}

/**
 * What was taken, after a change: `changed` has what is now at each address where something came, went or changed, null for nothing. Lists in which nothing
 * differs stay the very same, and what is equal in the others too: the cost is that of the change and of copying a list of references.
 */
export function changeHolds(subnet: Subnet, holds: SubnetHolds, changed: ReadonlyMap<IpAddress, Allocation | null>): SubnetHolds {
  const addresses = [...changed.keys()].sort(compareAddresses);
  const now = holdsInOrder(
    subnet,
    addresses.flatMap((address) => changed.get(address) ?? []),
  );
  return {
    inWindow: splice(holds.inWindow, now.inWindow, { addresses, addressOf: (address) => address }),
    hosts: splice(holds.hosts, now.hosts, { addresses, addressOf: ({ address }) => address }),
    named: splice(holds.named, now.named, { addresses, addressOf: ({ address }) => address }),
  };
}

interface Places<T> {
  /** Ascending. */
  readonly addresses: readonly IpAddress[];
  readonly addressOf: (item: T) => IpAddress;
}

/** The list with what is at these addresses now instead of what was; both in the order of their addresses. */
function splice<T>(list: T[], now: readonly T[], { addresses, addressOf }: Places<T>): T[] {
  const parts: (readonly T[])[] = [];
  let [at, next, isSame] = [0, 0, true];
  for (const address of addresses) {
    const start = firstFrom(list, address, addressOf);
    let end = start;
    while (end < list.length && isAt(list[end], address, addressOf)) end++;
    const from = next;
    while (next < now.length && isAt(now[next], address, addressOf)) next++;
    if (JSON.stringify(list.slice(start, end)) === JSON.stringify(now.slice(from, next))) continue;
    isSame = false;
    parts.push(list.slice(at, start), now.slice(from, next));
    at = end;
  }
  return isSame ? list : parts.concat([list.slice(at)]).flat();
}

function isAt<T>(item: T | undefined, address: IpAddress, addressOf: (item: T) => IpAddress): boolean {
  return item !== undefined && addressOf(item) === address;
}

/** The place of the first item that is not before the address. */
function firstFrom<T>(list: readonly T[], address: IpAddress, addressOf: (item: T) => IpAddress): number {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const item = list[middle];
    if (item !== undefined && compareAddresses(addressOf(item), address) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function holdsInOrder({ id, window, prefix, domain }: Subnet, allocations: readonly Allocation[]): SubnetHolds {
  const premade = hasPremadeNames(prefix);
  const inWindow: IpAddress[] = [];
  const hosts: DesiredHost[] = [];
  const named: SubnetHolds["named"][number][] = [];
  for (const { address, delivery, kind, name, nics } of allocations) {
    if (window !== null && rangeContains(window, address)) inWindow.push(address);
    if (kind !== "vip" && delivery !== "config")
      for (const hardwareAddress of nics) hosts.push({ hardwareAddress, address, name });
    if (!premade || name !== `${premadeLabel(address)}.${domain}`) named.push({ subnetId: id, address, name });
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
