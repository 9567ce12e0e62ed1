import { addressFamily, ipv4Number, type IpAddress } from "../address/ip.js";
import { compareAddresses } from "../address/ip.js";
import { prefixFamily, prefixNetwork } from "../address/prefix.js";
import type { DesiredHost, DesiredState, DesiredSubnet } from "../desired/schema.js";
import { accepted, refused, type Problem, type Result } from "../problem.js";
import { checkDesiredDhcp } from "./check-desired.js";
import type { DhcpdConfig, DhcpdHost, LeaseTimes, Pool, SharedNetwork, SubnetDeclaration } from "./config.js";
import { enlistmentAddress, enlistmentRanges } from "./enlistment.js";
import { splitIntoPools, subtractExcluded } from "./pools.js";
import type { RackLink, RackLinks } from "./rack-links.js";
import { reviewDhcpd } from "./review.js";
import { groupIntoWires, type Wire } from "./wires.js";

/**
 * Compiles what dhcpd must serve on IPv4 at this rack. Subnets in mode `off` or `observe` leave nothing behind. Refuses with every reason when the
 * desired state cannot be served safely; what can be left out without harm to the rest is left out and named in `warnings`.
 * The same input in any order gives the same tree.
 */
export function compileDhcpd(desired: Pick<DesiredState, "subnets">, local: RackLinks): Result<DhcpdConfig> {
  const problems = checkDesiredDhcp(desired, local);
  if (problems.length > 0) return refused(...problems);
  const served = desired.subnets.filter(isServed).sort(bySubnet);
  const warnings: Problem[] = [...unservedFamilies(desired), ...withoutLink(served, local)];
  const wires = groupIntoWires(desired.subnets.toSorted(bySubnet), local.links);
  const sharedNetworks = wires.flatMap((wire) => compileWire(wire, local, warnings));
  const linked = new Set(local.links.map((link) => link.subnetId));
  const config: DhcpdConfig = {
    sharedNetworks,
    hosts: served.filter((subnet) => linked.has(subnet.id)).flatMap((subnet) => compileHosts(subnet, local, warnings)),
    interfaces: servedInterfaces(desired, local),
    warnings,
  };
  const findings = reviewDhcpd(config);
  return findings.length > 0 ? refused(...findings) : accepted(config);
}

/** Names of the interfaces dhcpd listens on, sorted; with none it must not run: dhcpd without a list takes every interface. */
export function servedInterfaces(desired: Pick<DesiredState, "subnets">, local: RackLinks): string[] {
  const served = new Set(desired.subnets.filter(isServed).map((subnet) => subnet.id));
  return [...new Set(local.links.filter((link) => served.has(link.subnetId)).map((link) => link.name))].sort();
}

/** All reasons for which this desired state would not be rendered, in a stable order; empty when it would. */
export function checkDhcpd(desired: Pick<DesiredState, "subnets">, local: RackLinks): readonly Problem[] {
  const config = compileDhcpd(desired, local);
  return config.ok ? [] : config.problems;
}

function isServed(subnet: DesiredSubnet): boolean {
  return servesHosts(subnet) && prefixFamily(subnet.prefix) === 4;
}

function servesHosts(subnet: DesiredSubnet): boolean {
  return subnet.mode === "static" || subnet.mode === "window" || subnet.mode === "link-local";
}

function bySubnet(a: DesiredSubnet, b: DesiredSubnet): number {
  return compareAddresses(prefixNetwork(a.prefix), prefixNetwork(b.prefix)) || a.id - b.id;
}

function unservedFamilies(desired: Pick<DesiredState, "subnets">): Problem[] {
  return desired.subnets
    .filter((subnet) => servesHosts(subnet) && prefixFamily(subnet.prefix) === 6)
    .sort(bySubnet)
    .map((subnet) => ({
      code: "dhcp-ipv6-not-served",
      at: `subnet ${subnet.prefix}`,
      message: "DHCP is served on IPv4 only",
      remedy: "set the mode to off or observe",
    }));
}

function withoutLink(served: readonly DesiredSubnet[], local: RackLinks): Problem[] {
  const linked = new Set(local.links.map((link) => link.subnetId));
  return served
    .filter((subnet) => !linked.has(subnet.id))
    .map((subnet) => ({
      code: "subnet-without-link",
      at: `subnet ${subnet.prefix}`,
      message: "no interface of this rack has a real address in it, so DHCP is not served there",
      remedy: "give the rack's interface an address in the prefix, or set the mode to off",
    }));
}

function compileWire(wire: Wire, local: RackLinks, warnings: Problem[]): SharedNetwork[] {
  const declarations = wire.subnets.filter(isServed).flatMap((subnet) => compileSubnet(subnet, wire, local, warnings));
  const [first] = declarations;
  if (first === undefined) return [];
  return [
    {
      name: wire.name,
      authoritative: wire.subnets.every((subnet) => servesHosts(subnet) || prefixFamily(subnet.prefix) === 6),
      serverIdentifier: first.serverIdentifier,
      subnets: declarations,
    },
  ];
}

function compileSubnet(subnet: DesiredSubnet, wire: Wire, local: RackLinks, warnings: Problem[]): SubnetDeclaration[] {
  const own = wire.links.find((link) => link.subnetId === subnet.id);
  if (own === undefined) return [];
  const declaration: SubnetDeclaration = {
    subnetId: subnet.id,
    prefix: subnet.prefix,
    serverIdentifier: own.address,
    options: {
      routers: subnet.gateway === null ? [] : [subnet.gateway],
      domainName: subnet.domain,
      domainSearch: [subnet.domain],
      domainNameServers: ipv4Only(subnet.dns),
      ntpServers: ipv4Only(subnet.ntp),
    },
    leaseTimes: windowLeaseTimes(subnet),
    pools: subnet.mode === "window" ? windowPools(subnet, local.links, warnings) : [],
  };
  const enlistment = compileEnlistment(subnet, own, warnings);
  return enlistment === null ? [declaration] : [declaration, enlistment];
}

/** The slice of the enlistment pool beside the prefix. Its machines reach nothing but the rack, so the rack is all their servers. */
function compileEnlistment(subnet: DesiredSubnet, own: RackLink, warnings: Problem[]): SubnetDeclaration | null {
  const rack = enlistmentAddress(subnet);
  if (rack === null || subnet.enlistment === null) return null;
  const { slice, leaseTime } = subnet.enlistment;
  const pools = splitIntoPools(enlistmentRanges(slice));
  if (pools.length === 0) warnings.push(emptyPool("enlistment-empty", subnet, `the slice ${slice}`));
  return {
    subnetId: subnet.id,
    prefix: slice,
    serverIdentifier: rack.address,
    options: {
      routers: [],
      domainName: subnet.domain,
      domainSearch: [subnet.domain],
      domainNameServers: [rack.address],
      // Only where this rack's own NTP server is among those chosen for the subnet, that is, where it answers.
      ntpServers: subnet.ntp.includes(own.address) ? [rack.address] : [],
    },
    leaseTimes: { min: leaseTime, usual: leaseTime, max: leaseTime },
    pools,
  };
}

function windowPools(subnet: DesiredSubnet, links: readonly RackLink[], warnings: Problem[]): Pool[] {
  if (subnet.window === null) return [];
  const pools = splitIntoPools(subtractExcluded(subnet.window, neverInPool(subnet, links), subnet.excludedRanges ?? []));
  if (pools.length === 0)
    warnings.push(emptyPool("window-empty", subnet, `the window ${subnet.window.first}-${subnet.window.last}`));
  return pools;
}

/** Every single address of the subnet that somebody has or may have by name: dhcpd, short of addresses, gives away whatever its pools contain. */
function neverInPool(subnet: DesiredSubnet, links: readonly RackLink[]): IpAddress[] {
  const { excluded, hosts, dns, ntp, gateway } = subnet;
  const own = links.map((link) => link.address);
  return [...excluded, ...hosts.map((host) => host.address), ...own, ...dns, ...ntp, ...(gateway === null ? [] : [gateway])];
}

function emptyPool(code: string, subnet: DesiredSubnet, what: string): Problem {
  return {
    code,
    at: `subnet ${subnet.prefix}`,
    message: `${what} has no address left to give, so unknown machines get none`,
    remedy: "widen it, or release addresses inside it",
  };
}

/** dhcpd's own lower bound (300 s) said aloud; a subnet with shorter leases sets it itself. */
const MIN_LEASE_TIME = 300;

function windowLeaseTimes(subnet: DesiredSubnet): LeaseTimes {
  return { min: Math.min(subnet.leaseTime, MIN_LEASE_TIME), usual: subnet.leaseTime, max: subnet.maxLeaseTime };
}

/** A machine at an address that the rack or the gateway answers for would take the subnet down, so that one host is left out. */
function compileHosts(subnet: DesiredSubnet, { links }: RackLinks, warnings: Problem[]): DhcpdHost[] {
  const taken = new Map<IpAddress, string>(links.map(({ address }) => [address, "this rack's own address"]));
  if (subnet.gateway !== null) taken.set(subnet.gateway, "the gateway");
  const isFree = (host: DesiredHost): boolean => !taken.has(host.address);
  for (const { address, hardwareAddress } of subnet.hosts.filter((host) => !isFree(host)).sort(byHardwareAddress)) {
    warnings.push({
      code: "fixed-address-in-use",
      at: `subnet ${subnet.prefix} host ${hardwareAddress}`,
      message: `${address} is ${taken.get(address) ?? "taken"}, so this machine gets no address`,
      remedy: "give the machine another address",
    });
  }
  return subnet.hosts
    .filter(isFree)
    .map((host) => compileHost(host, subnet))
    .sort(byAddress);
}

function byHardwareAddress(a: DesiredHost, b: DesiredHost): number {
  return a.hardwareAddress < b.hardwareAddress ? -1 : 1;
}

function compileHost(host: DesiredHost, subnet: DesiredSubnet): DhcpdHost {
  const dot = host.name.indexOf(".");
  const domain = dot < 0 ? subnet.domain : host.name.slice(dot + 1);
  return {
    name: `s${subnet.id}-${host.hardwareAddress.replaceAll(":", "")}`,
    subnetId: subnet.id,
    hardwareAddress: host.hardwareAddress,
    fixedAddress: host.address,
    hostName: dot < 0 ? host.name : host.name.slice(0, dot),
    domainName: domain === subnet.domain ? null : domain,
  };
}

/** Bonds have several hardware addresses on one address. */
function byAddress(a: DhcpdHost, b: DhcpdHost): number {
  return ipv4Number(a.fixedAddress) - ipv4Number(b.fixedAddress) || (a.hardwareAddress < b.hardwareAddress ? -1 : 1);
}

function ipv4Only(addresses: readonly IpAddress[]): IpAddress[] {
  return addresses.filter((address) => addressFamily(address) === 4);
}
