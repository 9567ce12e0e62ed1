import { prefixFamily, type IpPrefix } from "../address/prefix.js";
import type { DesiredState, DesiredSubnet } from "../desired/schema.js";
import { accepted, refused, type Problem, type Result } from "../problem.js";
import { checkDesiredDhcp } from "./check-desired.js";
import { compileHosts } from "./compile-hosts.js";
import { compileBoot, compileEnlistmentOptions, compileOptions, windowLeaseTimes } from "./compile-options.js";
import { compileWindow } from "./compile-window.js";
import type { DhcpdConfig, FailoverPeer, SharedNetwork, SubnetDeclaration } from "./config.js";
import { enlistmentAddress, enlistmentRanges } from "./enlistment.js";
import { splitIntoPools } from "./pools.js";
import type { RackLink, RackLinks, RelayLink } from "./rack-links.js";
import { reviewDhcpd } from "./review.js";
import { bySubnet, servesHosts } from "./served.js";
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
  const context: Context = { local, warnings: withoutLink(served, local), failovers: [] };
  const wires = groupIntoWires(desired.subnets.toSorted(bySubnet), local.links);
  const sharedNetworks = [
    ...wires.flatMap((wire) => compileWire(wire, context)),
    ...served.flatMap((subnet) => compileRelayed(subnet, context)),
  ];
  const attached = new Set([...local.links, ...relaysOf(local)].map((link) => link.subnetId));
  const config: DhcpdConfig = {
    sharedNetworks,
    carriers: carriersOf(served, local),
    hosts: served.filter((subnet) => attached.has(subnet.id)).flatMap((subnet) => compileHosts(subnet, context)),
    failovers: context.failovers,
    interfaces: servedInterfaces(desired, local),
    warnings: context.warnings,
  };
  const findings = reviewDhcpd(config);
  return findings.length > 0 ? refused(...findings) : accepted(config);
}

interface Context {
  readonly local: RackLinks;
  readonly warnings: Problem[];
  readonly failovers: FailoverPeer[];
}

/** Names of the interfaces dhcpd listens on, sorted; with none it must not run: dhcpd without a list takes every interface. */
export function servedInterfaces(desired: Pick<DesiredState, "subnets">, local: RackLinks): string[] {
  const served = new Set(desired.subnets.filter(isServed).map((subnet) => subnet.id));
  const links = [...local.links, ...relaysOf(local)].filter((link) => served.has(link.subnetId));
  return [...new Set(links.map((link) => link.name))].sort();
}

/** All reasons for which this desired state would not be rendered, in a stable order; empty when it would. */
export function checkDhcpd(desired: Pick<DesiredState, "subnets">, local: RackLinks): readonly Problem[] {
  const config = compileDhcpd(desired, local);
  return config.ok ? [] : config.problems;
}

function isServed(subnet: DesiredSubnet): boolean {
  return servesHosts(subnet) && prefixFamily(subnet.prefix) === 4;
}

function withoutLink(served: readonly DesiredSubnet[], local: RackLinks): Problem[] {
  const attached = new Set([...local.links, ...relaysOf(local)].map((link) => link.subnetId));
  return served
    .filter((subnet) => !attached.has(subnet.id))
    .map(({ prefix, relay }): Problem => {
      if (relay !== undefined)
        return {
          code: "relay-server-not-here",
          at: `subnet ${prefix}`,
          message: `relays forward to ${relay.server}, which no interface of this rack has, so DHCP is not served there`,
          remedy: "name an address of the rack's, or give the rack that address",
        };
      return {
        code: "subnet-without-link",
        at: `subnet ${prefix}`,
        message: "no interface of this rack has a real address in it, so DHCP is not served there",
        remedy: "give the rack's interface an address in the prefix, or set the mode to off",
      };
    });
}

function compileWire(wire: Wire, context: Context): SharedNetwork[] {
  const declarations = wire.subnets.filter(isServed).flatMap((subnet) => {
    const own = wire.links.find((link) => link.subnetId === subnet.id);
    return own === undefined ? [] : compileSubnet(subnet, own, context);
  });
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

/** A network of its own: what else is on its wire only its relay knows. */
function compileRelayed(subnet: DesiredSubnet, context: Context): SharedNetwork[] {
  const own = relaysOf(context.local).find((relay) => relay.subnetId === subnet.id);
  if (own === undefined) return [];
  const subnets = compileSubnet(subnet, own, context)
    .slice(0, 1)
    .map((declaration) => ({ ...declaration, relayed: true }));
  return [{ name: `relayed-${subnet.id}`, authoritative: true, serverIdentifier: own.address, subnets }];
}

function relaysOf({ links, relays = [] }: RackLinks): readonly RelayLink[] {
  const linked = new Set(links.map(({ subnetId }) => subnetId));
  return relays.filter(({ subnetId }) => !linked.has(subnetId));
}

/** dhcpd is deaf on an interface without a subnet declared. Where relayed messages arrive and nothing is served, one that serves nothing. */
function carriersOf(served: readonly DesiredSubnet[], local: RackLinks): readonly IpPrefix[] {
  const ids = new Set(served.map(({ id }) => id));
  const serving = new Set(local.links.filter(({ subnetId }) => ids.has(subnetId)).map(({ name }) => name));
  const carriers = relaysOf(local).filter(({ name, subnetId }) => ids.has(subnetId) && !serving.has(name));
  return [...new Set(carriers.map(({ network }) => network))].sort();
}

function compileSubnet(subnet: DesiredSubnet, own: RackLink, context: Context): SubnetDeclaration[] {
  const window = compileWindow(subnet, own, context.local.links);
  context.warnings.push(...window.warnings);
  if (window.failover !== null) context.failovers.push(window.failover);
  const declaration: SubnetDeclaration = {
    subnetId: subnet.id,
    prefix: subnet.prefix,
    relayed: false,
    serverIdentifier: own.address,
    options: compileOptions(subnet),
    leaseTimes: windowLeaseTimes(subnet),
    pools: window.pools,
    failover: window.failover?.name ?? null,
    boot: compileBoot(subnet.dhcp?.boot, own.address),
    snippet: snippetOf(subnet),
  };
  const enlistment = compileEnlistment(subnet, own, context.warnings);
  return enlistment === null ? [declaration] : [declaration, enlistment];
}

function snippetOf({ dhcp }: DesiredSubnet): string | null {
  return dhcp?.snippet === undefined || dhcp.snippet.trim() === "" ? null : dhcp.snippet;
}

/** The slice of the enlistment pool beside the prefix. Its machines reach nothing but the rack, so the rack is all their servers. */
function compileEnlistment(subnet: DesiredSubnet, own: RackLink, warnings: Problem[]): SubnetDeclaration | null {
  const rack = enlistmentAddress(subnet);
  if (rack === null || subnet.enlistment === null) return null;
  const { slice, leaseTime } = subnet.enlistment;
  const pools = splitIntoPools(enlistmentRanges(slice));
  if (pools.length === 0)
    warnings.push({
      code: "enlistment-empty",
      at: `subnet ${subnet.prefix}`,
      message: `the slice ${slice} has no address left to give, so unknown machines get none`,
      remedy: "widen it",
    });
  // Only where this rack's own NTP server is among those chosen for the subnet, that is, where it answers.
  const ntp = subnet.ntp.includes(own.address) ? [rack.address] : [];
  return {
    subnetId: subnet.id,
    prefix: slice,
    relayed: false,
    serverIdentifier: rack.address,
    options: compileEnlistmentOptions(subnet, { rack: rack.address, ntp }),
    leaseTimes: { min: leaseTime, usual: leaseTime, max: leaseTime },
    pools,
    failover: null,
    boot: compileBoot(subnet.dhcp?.boot, rack.address),
    snippet: null,
  };
}
