import { isEthernet } from "../address/hardware.js";
import { addressFamily, compareAddresses, type IpAddress } from "../address/ip.js";
import { prefixFamily, type IpRange } from "../address/prefix.js";
import { withoutRanges } from "../address/ranges.js";
import type { DesiredState, DesiredSubnet } from "../desired/schema.js";
import { accepted, refused, type Problem, type Result } from "../problem.js";
import { checkDesiredDhcp } from "./check-desired.js";
import { windowLeaseTimes } from "./compile-options.js";
import { windowEmpty } from "./compile-window.js";
import { declarationName } from "./config.js";
import type { Dhcpd6Config, DhcpdHost6, SharedNetwork6, SubnetDeclaration6 } from "./config6.js";
import type { RackLink, RackLinks } from "./rack-links.js";
import { reviewDhcpd6 } from "./review6.js";
import { bySubnet, servesHosts } from "./served.js";
import { groupIntoWires, type Wire } from "./wires.js";

/**
 * Compiles what `dhcpd -6` must serve at this rack, by the rules of `compileDhcpd`: IPv4 subnets, and those in mode `off` or `observe`, leave nothing
 * behind; every reason to refuse is told; what can be left out without harm is, and named in `warnings`; the order of the input leaves no trace.
 */
export function compileDhcpd6(desired: Pick<DesiredState, "subnets">, local: RackLinks): Result<Dhcpd6Config> {
  const subnets = desired.subnets.filter(({ prefix }) => prefixFamily(prefix) === 6).sort(bySubnet);
  const ids = new Set(subnets.map(({ id }) => id));
  const links = local.links.filter(({ subnetId }) => ids.has(subnetId));
  const problems = checkDesiredDhcp({ subnets }, { links }, 6);
  if (problems.length > 0) return refused(...problems);
  const attached = new Set(links.map(({ subnetId }) => subnetId));
  const [served, unattached] = [subnets.filter(servesHosts), subnets.filter(({ id }) => !attached.has(id))];
  const warnings = [...unattached.filter(servesHosts).map(withoutLink), ...served.flatMap(unservedSettings)];
  const here = served.filter(({ id }) => attached.has(id));
  const servedIds = new Set(here.map(({ id }) => id));
  const config: Dhcpd6Config = {
    sharedNetworks: groupIntoWires(subnets, links).flatMap((wire) => compileWire(wire, { links: local.links, warnings })),
    hosts: here.flatMap((subnet) => compileHosts(subnet, warnings)),
    interfaces: [...new Set(links.filter(({ subnetId }) => servedIds.has(subnetId)).map(({ name }) => name))].sort(),
    warnings,
  };
  const findings = reviewDhcpd6(config);
  return findings.length > 0 ? refused(...findings) : accepted(config);
}

interface Context {
  readonly links: readonly RackLink[];
  readonly warnings: Problem[];
}

function withoutLink({ prefix, relay }: DesiredSubnet): Problem {
  const at = `subnet ${prefix}`;
  if (relay !== undefined)
    return {
      ...{ code: "dhcp6-relay-not-served", at, message: "IPv6 is served on the rack's own links only, not through relays" },
      remedy: "give the rack's interface an address in the prefix, or set the mode to off",
    };
  return {
    code: "subnet-without-link",
    at,
    message: "no interface of this rack has a real address in it, so DHCP is not served there",
    remedy: "give the rack's interface an address in the prefix, or set the mode to off",
  };
}

const IPV4_SETTINGS = ["routers", "mtu", "routes", "options", "boot", "snippet"] as const;

/** What an operator set and nobody on this network would be told. */
function unservedSettings({ prefix, mode, dhcp = {} }: DesiredSubnet): Problem[] {
  const at = `subnet ${prefix}`;
  const unserved = IPV4_SETTINGS.filter((name) => dhcp[name] !== undefined);
  return [
    ...(unserved.length === 0
      ? []
      : [
          {
            ...{ code: "dhcp6-setting-not-served", at, message: `DHCP on IPv6 does not carry ${unserved.join(", ")}` },
            remedy: "take them away here; routers and MTU come from router advertisements",
          },
        ]),
    ...(mode === "link-local"
      ? [
          {
            ...{ code: "dhcp6-no-enlistment", at, message: "there is no enlistment on IPv6, so only known machines are served" },
            remedy: "use mode link-local on the IPv4 subnet of the link, and static or window here",
          },
        ]
      : []),
  ];
}

function compileWire(wire: Wire, context: Context): SharedNetwork6[] {
  const subnets = wire.subnets.filter(servesHosts).flatMap((subnet) => {
    const own = wire.links.find(({ subnetId }) => subnetId === subnet.id);
    return own === undefined ? [] : [compileSubnet(subnet, own, context)];
  });
  return subnets.length === 0 ? [] : [{ name: wire.name, authoritative: wire.subnets.every(servesHosts), subnets }];
}

function compileSubnet(subnet: DesiredSubnet, own: RackLink, context: Context): SubnetDeclaration6 {
  return {
    subnetId: subnet.id,
    prefix: subnet.prefix,
    ownAddress: own.address,
    domainNameServers: ipv6Only(subnet.dns),
    domainSearch: subnet.dhcp?.domainSearch ?? [subnet.domain],
    sntpServers: ipv6Only(subnet.ntp),
    leaseTimes: windowLeaseTimes(subnet),
    ranges: compileRanges(subnet, context),
  };
}

function compileRanges(subnet: DesiredSubnet, { links, warnings }: Context): IpRange[] {
  const ranges = windowRanges6(subnet, links);
  if (subnet.mode === "window" && subnet.window !== null && ranges.length === 0)
    warnings.push(windowEmpty(subnet.prefix, subnet.window));
  return ranges;
}

/** The window of an IPv6 subnet without every address that somebody has or may have by name. */
export function windowRanges6(subnet: DesiredSubnet, links: readonly RackLink[]): IpRange[] {
  const { window, mode, excluded, excludedRanges = [], hosts, dns, ntp, gateway } = subnet;
  if (mode !== "window" || window === null) return [];
  const own = links.map(({ address }) => address);
  const named = [...excluded, ...hosts.map(({ address }) => address), ...own, ...dns, ...ntp, gateway];
  const single = named.flatMap((address) => (address === null ? [] : [{ first: address, last: address }]));
  return withoutRanges(window, [...excludedRanges, ...single]);
}

/** Bonds have several hardware addresses on one address. */
function compileHosts({ id, prefix, hosts }: DesiredSubnet, warnings: Problem[]): DhcpdHost6[] {
  const sorted = hosts.toSorted(
    (a, b) => compareAddresses(a.address, b.address) || (a.hardwareAddress < b.hardwareAddress ? -1 : 1),
  );
  for (const { hardwareAddress } of sorted.filter((host) => !isEthernet(host.hardwareAddress)))
    warnings.push({
      code: "dhcp6-hardware-unmatched",
      at: `subnet ${prefix} host ${hardwareAddress}`,
      message: "only Ethernet addresses are known again on IPv6, so this machine is not served its address",
      remedy: "configure the address on the machine",
    });
  return sorted
    .filter(({ hardwareAddress }) => isEthernet(hardwareAddress))
    .map(({ hardwareAddress, address }) => ({
      name: declarationName(id, hardwareAddress),
      subnetId: id,
      hardwareAddress,
      fixedAddress: address,
    }));
}

function ipv6Only(addresses: readonly IpAddress[]): IpAddress[] {
  return addresses.filter((address) => addressFamily(address) === 6);
}
