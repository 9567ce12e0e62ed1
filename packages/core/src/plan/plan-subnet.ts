import { addressFamily, addressFromValue, addressValue, ipv4FromNumber, ipv4Number, type IpAddress } from "../address/ip.js";
import { prefixContains, rangeContains, type IpPrefix, type IpRange } from "../address/prefix.js";
import { intersectRanges, mergeRanges, rangeSize } from "../address/ranges.js";
import type { DesiredFailover } from "../desired/dhcp-settings.js";
import type { DesiredHost, DesiredSubnet } from "../desired/schema.js";
import type { Subnet } from "../ipam/model.js";
import { leaseBlocksUntil, leaseHolder } from "../ipam/observed.js";
import { keptAddresses } from "../topology/kept-addresses.js";
import type { RackView } from "../topology/rack-view.js";
import { assert } from "../problem.js";
import type { PairedRacks } from "./pair-racks.js";
import { addressFor, serversOf, type SiteView } from "./site-view.js";
import { withoutAddresses } from "./subnet-holds.js";

export interface PlannedSubnet {
  readonly subnet: DesiredSubnet;
  /** When the plan changes by itself, because a lease or a rest ends: milliseconds since 1970. */
  readonly changesAt: readonly number[];
}

interface Place {
  readonly view: SiteView;
  readonly rack: RackView;
  readonly slice: IpPrefix | null;
  /** The racks that share the window, or null. */
  readonly pair: PairedRacks | null;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** What one rack must serve on one of its subnets. */
export function planSubnet(subnet: Subnet, place: Place): PlannedSubnet {
  const changesAt: number[] = [];
  const window = shareOfWindow(subnet, place);
  const enlistment =
    place.slice === null || subnet.enlistment === null ? null : { slice: place.slice, leaseTime: subnet.enlistment.leaseTime };
  const lacksPool = (subnet.mode === "window" && window === null) || (subnet.mode === "link-local" && enlistment === null);
  const servers = place.view.servers.get(subnet.id);
  return {
    subnet: {
      id: subnet.id,
      prefix: subnet.prefix,
      mode: lacksPool ? "static" : subnet.mode,
      gateway: subnet.gateway,
      domain: subnet.domain,
      window,
      enlistment,
      ...(window === null ? { excluded: [] } : excludedFrom(window, subnet, { ...place, changesAt })),
      hosts: hostsOf(subnet, { ...place, changesAt }),
      dns: [...(servers?.dns ?? [])],
      ntp: [...(servers?.ntp ?? [])],
      leaseTime: subnet.leaseTime,
      maxLeaseTime: subnet.maxLeaseTime,
      ...dhcpOf(subnet, place),
    },
    changesAt,
  };
}

function dhcpOf(subnet: Subnet, { view, rack, pair }: Place): Pick<DesiredSubnet, "dhcp" | "failover" | "relay"> {
  const { failover: _, relay, ...settings } = subnet.dhcp ?? {};
  const server = relay === undefined ? null : addressFor(view, rack, subnet);
  return {
    ...(Object.keys(settings).length === 0 ? {} : { dhcp: settings }),
    ...(isOf(pair, rack) ? { failover: sideOf(pair, rack) } : {}),
    ...(server !== null && !prefixContains(subnet.prefix, server) ? { relay: { server } } : {}),
  };
}

function isOf(pair: PairedRacks | null, { id }: RackView): pair is PairedRacks {
  return pair?.addresses.has(id) === true;
}

const FAILOVER = { mclt: 300, split: 128, port: 647 } as const;

function sideOf({ primary, secondary, addresses, wish }: PairedRacks, { id }: RackView): DesiredFailover {
  const [own, other] = id === primary.id ? [primary, secondary] : [secondary, primary];
  const [address, partner] = [addresses.get(own.id), addresses.get(other.id)];
  assert(address !== undefined && partner !== undefined, "a pair without its addresses");
  return { role: own === primary ? "primary" : "secondary", address, partner, ...FAILOVER, ...wish };
}

/** Two dhcpd that do not know of each other must not give from one window: each rack that serves the subnet has an equal part. */
function shareOfWindow(subnet: Subnet, { view, rack, pair }: Place): IpRange | null {
  if (subnet.mode !== "window" || subnet.window === null) return null;
  // A pair gives all of it; a third rack gives nothing.
  if (pair !== null) return isOf(pair, rack) ? subnet.window : null;
  const racks = serversOf(view, subnet);
  const index = BigInt(racks.findIndex(({ id }) => id === rack.id));
  const size = rangeSize(subnet.window);
  const count = BigInt(racks.length);
  const base = addressValue(subnet.window.first);
  const first = base + (size * index) / count;
  const last = base + (size * (index + 1n)) / count - 1n;
  const family = addressFamily(subnet.window.first);
  return first > last ? null : { first: addressFromValue(family, first), last: addressFromValue(family, last) };
}

type Noting = Place & { readonly changesAt: number[] };

type Excluded = Pick<DesiredSubnet, "excluded" | "excludedRanges">;

/** Addresses of the window that dhcpd must not give: everything static, everything that racks have or move between them, everything that somebody may still hold. */
function excludedFrom(window: IpRange, subnet: Subnet, place: Noting): Excluded {
  const { view, rack, pair, now, changesAt } = place;
  const excluded = new Set<IpAddress>();
  const add = (address: IpAddress): void => {
    if (rangeContains(window, address)) excluded.add(address);
  };
  for (const address of view.facts.holdsOf(subnet).inWindow) add(address);
  for (const address of [subnet.gateway, ...(subnet.dns ?? []), ...(subnet.ntp ?? [])]) if (address !== null) add(address);
  const kept = [...subnet.reserved, ...(view.reservations.get(subnet.id) ?? [])];
  const reserved = kept.flatMap((range) => intersectRanges(range, window) ?? []);
  for (const { address, until } of view.facts.quarantinesIn(subnet.id)) {
    if (until <= now || !rangeContains(window, address)) continue;
    add(address);
    changesAt.push(until);
  }
  for (const { address, until } of keptAddresses(view.topology, view.site)) {
    add(address);
    if (until !== null && rangeContains(window, address)) changesAt.push(until);
  }
  for (const other of view.racks) {
    for (const { addresses } of other.interfaces) for (const { address } of addresses) add(address);
    // A pair tells itself of its leases: taken out of the window on one side, they would be lost to it.
    if (other.id === rack.id || isOf(pair, other)) continue;
    for (const [address, lease] of other.leases) {
      const until = leaseBlocksUntil(lease, other);
      if ((until !== null && until <= now) || !rangeContains(window, address)) continue;
      add(address);
      if (until !== null) changesAt.push(until);
    }
  }
  return addressFamily(window.first) === 4 ? inRuns(excluded, reserved) : inRuns6(excluded, reserved);
}

/** Single addresses one by one, any that follow each other as a range: a reserved block may be as large as the window. All IPv4. */
function inRuns(addresses: ReadonlySet<IpAddress>, ranges: readonly IpRange[]): Excluded {
  const bounds = ranges.map(({ first, last }) => ({ first: ipv4Number(first), last: ipv4Number(last) }));
  const singles = [...addresses].map((address) => ({ first: ipv4Number(address), last: ipv4Number(address) }));
  const runs: { first: number; last: number }[] = [];
  for (const { first, last } of [...bounds, ...singles].sort((a, b) => a.first - b.first)) {
    const open = runs.at(-1);
    if (open === undefined || first > open.last + 1) runs.push({ first, last });
    else open.last = Math.max(open.last, last);
  }
  const whole = runs.filter(({ first, last }) => first < last);
  return {
    excluded: runs.filter(({ first, last }) => first === last).map(({ first }) => ipv4FromNumber(first)),
    ...(whole.length === 0
      ? {}
      : { excludedRanges: whole.map(({ first, last }) => ({ first: ipv4FromNumber(first), last: ipv4FromNumber(last) })) }),
  };
}

/** The same for IPv6. */
function inRuns6(addresses: ReadonlySet<IpAddress>, ranges: readonly IpRange[]): Excluded {
  const runs = mergeRanges([...ranges, ...[...addresses].map((address) => ({ first: address, last: address }))]);
  const excludedRanges = runs.filter(({ first, last }) => first !== last);
  return {
    excluded: runs.filter(({ first, last }) => first === last).map(({ first }) => first),
    ...(excludedRanges.length === 0 ? {} : { excludedRanges }),
  };
}

/** One declaration a NIC, except for addresses that the last dynamic holder may still use: dhcpd would give them to two. */
function hostsOf(subnet: Subnet, { view, now, changesAt }: Noting): DesiredHost[] {
  if (subnet.mode === "off" || subnet.mode === "observe") return [];
  const { hosts } = view.facts.holdsOf(subnet);
  const held = new Set<IpAddress>();
  for (const rack of view.racks) {
    if (rack.leases.size === 0) continue;
    for (let at = 0, next = 0; at < hosts.length; at = next) {
      const address = hosts[at]?.address;
      for (next = at + 1; hosts[next]?.address === address; ) next++;
      if (address === undefined || held.has(address) || !rack.leases.has(address)) continue;
      const nics = hosts.slice(at, next).map(({ hardwareAddress }) => hardwareAddress);
      const holder = leaseHolder(rack, address, { nics, now });
      if (holder === null) continue;
      if (holder.until !== null) changesAt.push(holder.until);
      held.add(address);
    }
  }
  return withoutAddresses(hosts, held);
}
