import { addressFamily, addressValue, type IpAddress } from "../address/ip.js";
import {
  prefixContains,
  prefixesOverlap,
  prefixFamily,
  prefixLength,
  rangeContains,
  unusableName,
  usableRange,
  ipPrefix,
  type IpRange,
} from "../address/prefix.js";
import { checkHostName } from "../names/host-name.js";
import type { Problem } from "../problem.js";
import { checkDhcpSettings } from "./check-dhcp-settings.js";
import { checkDomain } from "./check-domain.js";
import { checkEnlistment, checkPrefixAgainstPools } from "./check-enlistment.js";
import type { LedgerState } from "./ledger-state.js";
import type { Allocation, Subnet } from "./model.js";

const RESERVED_RANGES_MAX = 256;
const SERVERS_MAX = 8;
/** The shortest prefixes: a /8 is the largest private IPv4 block, a /32 what a provider has of IPv6. */
const LENGTH_MIN = { 4: 8, 6: 32 } as const;
const LEASE_TIME_MIN = 60;
const LEASE_TIME_MAX = 31_536_000;
/** What leaves room for a label of 63 octets and a dot in a name of 253 (RFC 1035 §2.3.4). */
const DOMAIN_MAX = 189;
const NAMED_MAX = 5;

const DOMAIN = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;
const SITE = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** Blocks that no host may be given from (RFC 6890 §2.2.2 and §2.2.3, RFC 1112 §4, RFC 4291 §2.4). */
const NOT_FOR_HOSTS: readonly (readonly [string, string])[] = [
  ["0.0.0.0/8", "'this network'"],
  ["127.0.0.0/8", "loopback"],
  ["169.254.0.0/16", "link-local"],
  ["224.0.0.0/3", "multicast or reserved"],
  ["::/8", "loopback, IPv4-mapped or reserved"],
  ["fe80::/10", "link-local"],
  ["ff00::/8", "multicast"],
];

/** Everything that speaks against a subnet beside those of the ledger; one with the same id is the one it replaces. */
export function checkSubnet(subnet: Subnet, state: LedgerState): readonly Problem[] {
  const prefix = checkPrefix(subnet);
  if (prefix.length > 0) return [...prefix, ...checkNames(subnet)];
  return [
    ...checkNames(subnet),
    ...checkDomain(subnet, state),
    ...checkNeighbours(subnet, state),
    ...checkPrefixAgainstPools(subnet, state),
    ...checkGateway(subnet, state),
    ...checkWindow(subnet, state),
    ...checkReserved(subnet),
    ...checkServers(subnet),
    ...checkEnlistment(subnet, state),
    ...checkTimes(subnet),
    ...checkDhcpSettings(subnet, state),
  ];
}

function checkPrefix({ prefix }: Subnet): Problem[] {
  const shortest = LENGTH_MIN[prefixFamily(prefix)];
  if (prefixLength(prefix) < shortest) {
    const message = `${prefix} is larger than a /${shortest}`;
    return [
      { code: "prefix-too-large", at: "prefix", message, remedy: "declare the networks of the racks, not the block around them" },
    ];
  }
  return NOT_FOR_HOSTS.filter(([block]) => prefixesOverlap(prefix, ipPrefix(block))).map(([block, what]) => ({
    code: "prefix-not-for-hosts",
    at: "prefix",
    message: `${prefix} lies in ${block}, which is ${what}`,
    remedy:
      what === "link-local" && prefixFamily(prefix) === 4
        ? "use mode link-local on a subnet with ordinary addresses"
        : "use private or public unicast addresses",
  }));
}

function checkNames({ domain, site }: Subnet): Problem[] {
  const problems: Problem[] = [];
  const unusual = domain === "arpa" || domain.endsWith(".arpa") || /^[0-9.]+$/.test(domain);
  // What the zone review of a rack would refuse must not get into the ledger: it would keep all zones of the site from changing.
  if (!DOMAIN.test(domain) || domain.length > DOMAIN_MAX || unusual || checkHostName(domain).length > 0) {
    const remedy = `use a domain like rack1.example.com: letters, digits and hyphens, at most ${DOMAIN_MAX} characters, not below arpa`;
    problems.push({ code: "domain-invalid", at: "domain", message: `'${printable(domain)}' is not a domain for hosts`, remedy });
  }
  if (!SITE.test(site)) {
    const remedy = "use letters, digits and hyphens, at most 63";
    problems.push({ code: "site-invalid", at: "site", message: `'${printable(site)}' is not a name for a site`, remedy });
  }
  return problems;
}

function checkNeighbours(subnet: Subnet, state: LedgerState): Problem[] {
  const problems: Problem[] = [];
  for (const other of state.subnets.values()) {
    if (other.id === subnet.id || !prefixesOverlap(other.prefix, subnet.prefix)) continue;
    if (other.site === subnet.site) {
      const message = `${subnet.prefix} overlaps subnet ${other.id}, ${other.prefix}, of site ${other.site}`;
      const remedy = "choose another prefix, or another site if it is another network with the same addresses";
      problems.push({ code: "subnet-overlaps", at: "prefix", message, remedy });
    } else if (other.domain === subnet.domain) {
      const message = `subnet ${other.id}, ${other.prefix}, of site ${other.site} makes the same names in ${other.domain}`;
      problems.push({ code: "domain-ambiguous", at: "domain", message, remedy: "give each site a domain of its own" });
    }
  }
  return problems;
}

function checkGateway(subnet: Subnet, state: LedgerState): Problem[] {
  const { gateway } = subnet;
  if (gateway === null) return [];
  const problems = checkHostAddress(gateway, { subnet, what: "gateway", at: "gateway" });
  const holder = state.spaces.get(subnet.id)?.allocations.get(gateway);
  if (holder !== undefined) {
    const message = `${gateway} is given to ${describeHolder(holder)}`;
    problems.push({ code: "gateway-allocated", at: "gateway", message, remedy: "release that machine first" });
  }
  return problems;
}

function checkHostAddress(address: IpAddress, place: { subnet: Subnet; what: string; at: string }): Problem[] {
  const { prefix } = place.subnet;
  const usable = usableRange(prefix);
  const remedy = `use an address from ${usable.first} to ${usable.last}`;
  if (!prefixContains(prefix, address)) {
    return [{ code: `${place.what}-outside`, at: place.at, message: `${address} is not in ${prefix}`, remedy }];
  }
  if (rangeContains(usable, address)) return [];
  const message = `${address} is ${unusableName(prefix)} of ${prefix}`;
  return [{ code: `${place.what}-not-for-hosts`, at: place.at, message, remedy }];
}

function checkWindow(subnet: Subnet, state: LedgerState): Problem[] {
  const { window, mode, gateway } = subnet;
  if (window === null) {
    if (mode !== "window") return [];
    const message = "mode window needs a window";
    return [{ code: "window-missing", at: "window", message, remedy: "give its first and last address, or use mode static" }];
  }
  if (mode !== "window") {
    const message = `a window means nothing in mode ${mode}`;
    return [{ code: "window-without-mode", at: "window", message, remedy: "use mode window, or leave the window out" }];
  }
  const shape = checkRange(window, { subnet, what: "window", at: "window" });
  if (shape.length > 0) return shape;
  const problems: Problem[] = [];
  if (gateway !== null && rangeContains(window, gateway)) {
    const message = `the gateway ${gateway} lies in the window ${formatRange(window)}`;
    problems.push({ code: "gateway-in-window", at: "window", message, remedy: "move the window or the gateway" });
  }
  for (const server of [...(subnet.dns ?? []), ...(subnet.ntp ?? [])].filter((address) => rangeContains(window, address))) {
    const message = `the pinned server ${server} lies in the window ${formatRange(window)}`;
    problems.push({ code: "server-in-window", at: "window", message, remedy: "move the window" });
  }
  return [...problems, ...windowOverAllocations(window, subnet, state)];
}

function windowOverAllocations(window: IpRange, subnet: Subnet, state: LedgerState): Problem[] {
  const space = state.spaces.get(subnet.id);
  if (space === undefined) return [];
  const inside = [...space.allocations.values()].filter(({ address }) => rangeContains(window, address));
  if (inside.length === 0) return [];
  const named = inside.slice(0, NAMED_MAX).map((allocation) => `${allocation.address} of ${describeHolder(allocation)}`);
  const more = inside.length > NAMED_MAX ? ` and ${inside.length - NAMED_MAX} more` : "";
  const message = `the window ${formatRange(window)} would lie over ${named.join(", ")}${more}`;
  return [
    { code: "window-over-allocations", at: "window", message, remedy: "choose a window without them, or release them first" },
  ];
}

function checkRange(range: IpRange, place: { subnet: Subnet; what: string; at: string }): Problem[] {
  const { first, last } = range;
  if (addressFamily(first) === addressFamily(last) && addressValue(first) > addressValue(last)) {
    const message = `${formatRange(range)} ends before it begins`;
    return [{ code: `${place.what}-inverted`, at: place.at, message, remedy: `write it as ${last}-${first}` }];
  }
  const outside = [first, last].flatMap((address) => checkHostAddress(address, place));
  return outside.slice(0, 1);
}

function checkReserved(subnet: Subnet): Problem[] {
  if (subnet.reserved.length > RESERVED_RANGES_MAX) {
    const message = `${subnet.reserved.length} reserved ranges, more than ${RESERVED_RANGES_MAX}`;
    return [{ code: "reserved-too-many", at: "reserved", message, remedy: "join ranges that touch" }];
  }
  return subnet.reserved.flatMap((range, index) => {
    const problems = checkRange(range, { subnet, what: "reserved", at: `reserved[${index}]` });
    return problems.filter(({ code }) => code !== "reserved-not-for-hosts"); // reserving the network address changes nothing
  });
}

function checkServers(subnet: Subnet): Problem[] {
  return (["dns", "ntp"] as const).flatMap((at): Problem[] => {
    const servers = subnet[at];
    if (servers === null) return [];
    if (servers.length === 0) {
      const message = `an empty list of ${at.toUpperCase()} servers`;
      return [
        { code: "servers-empty", at, message, remedy: "name at least one, or leave it out to use the racks' real addresses" },
      ];
    }
    if (servers.length > SERVERS_MAX) {
      const message = `${servers.length} ${at.toUpperCase()} servers, more than ${SERVERS_MAX}`;
      return [{ code: "servers-too-many", at, message, remedy: "clients use the first two or three" }];
    }
    const odd = servers.findIndex((server) => addressFamily(server) !== prefixFamily(subnet.prefix));
    if (odd < 0) return [];
    const message = `${servers[odd] ?? ""} is not of the family of ${subnet.prefix}`;
    const remedy = "DHCP carries IPv4 servers only (RFC 2132 §3.8), DHCPv6 IPv6 ones only (RFC 3646 §3)";
    return [{ code: "server-family", at: `${at}[${odd}]`, message, remedy }];
  });
}

function checkTimes({ leaseTime, maxLeaseTime }: Subnet): Problem[] {
  const limits = `from ${LEASE_TIME_MIN} to ${LEASE_TIME_MAX} seconds`;
  const odd = (["leaseTime", "maxLeaseTime"] as const).filter((at) => {
    const value = at === "leaseTime" ? leaseTime : maxLeaseTime;
    return !Number.isInteger(value) || value < LEASE_TIME_MIN || value > LEASE_TIME_MAX;
  });
  if (odd.length > 0)
    return odd.map((at) => ({ code: "lease-time-invalid", at, message: `${at} is not ${limits}`, remedy: `use ${limits}` }));
  if (leaseTime <= maxLeaseTime) return [];
  const message = `leaseTime ${leaseTime} is above maxLeaseTime ${maxLeaseTime}`;
  return [{ code: "lease-time-above-maximum", at: "leaseTime", message, remedy: "raise maxLeaseTime or lower leaseTime" }];
}

export function formatRange({ first, last }: IpRange): string {
  return `${first}-${last}`;
}

/** Who holds an allocation, for messages: its name, and the machine behind it. */
export function describeHolder({ name, machineId, nics, owners }: Allocation): string {
  const who = machineId ?? owners.join(", ");
  return nics[0] === undefined ? `${name} (${who})` : `${name} (${who}, ${nics[0]})`;
}

function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, "?").slice(0, 80);
}
