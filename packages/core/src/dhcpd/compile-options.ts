import { addressFamily, type IpAddress } from "../address/ip.js";
import type { BootSettings } from "../desired/dhcp-settings.js";
import { RACK_PLACE } from "../desired/dhcp-settings.js";
import type { DesiredSubnet } from "../desired/schema.js";
import { ipPrefix } from "../address/prefix.js";
import type { BootChoices, LeaseTimes, NamedOption, Route, SubnetOptions } from "./config.js";

/** The options of a subnet's own prefix. */
export function compileOptions(subnet: Pick<DesiredSubnet, "dhcp" | "gateway" | "domain" | "dns" | "ntp">): SubnetOptions {
  const { dhcp = {} } = subnet;
  const routers = dhcp.routers ?? (subnet.gateway === null ? [] : [subnet.gateway]);
  return {
    routers,
    domainName: subnet.domain,
    domainSearch: dhcp.domainSearch ?? [subnet.domain],
    domainNameServers: ipv4Only(subnet.dns),
    ntpServers: ipv4Only(subnet.ntp),
    mtu: dhcp.mtu ?? null,
    routes: withDefaultRoute(dhcp.routes ?? [], routers),
    more: compileMore(dhcp.options ?? {}),
  };
}

const DEFAULT_ROUTE = ipPrefix("0.0.0.0/0");

/** A client that takes option 121 must ignore the routers, RFC 3442: without the default route among them it would have none. */
function withDefaultRoute(routes: readonly Route[], [router]: readonly IpAddress[]): readonly Route[] {
  if (routes.length === 0 || router === undefined || routes.some(({ prefix }) => prefix === DEFAULT_ROUTE)) return routes;
  return [{ prefix: DEFAULT_ROUTE, via: router }, ...routes];
}

/** The options of the enlistment pool: its machines reach nothing but the rack. MTU and the site's further options hold there too. */
export function compileEnlistmentOptions(
  subnet: DesiredSubnet,
  servers: { readonly rack: IpAddress; readonly ntp: readonly IpAddress[] },
): SubnetOptions {
  const { dhcp = {} } = subnet;
  return {
    routers: [],
    domainName: subnet.domain,
    domainSearch: dhcp.domainSearch ?? [subnet.domain],
    domainNameServers: [servers.rack],
    ntpServers: servers.ntp,
    mtu: dhcp.mtu ?? null,
    routes: [],
    more: compileMore(dhcp.options ?? {}),
  };
}

function compileMore(options: NonNullable<NonNullable<DesiredSubnet["dhcp"]>["options"]>): NamedOption[] {
  return Object.entries(options)
    .map(([name, value]): NamedOption => {
      if (typeof value === "number") return { name, value };
      return { name, value: typeof value === "string" ? { text: value } : { addresses: value } };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Null when nothing is set to boot. `rack` is how the machines reach the rack on this network. */
export function compileBoot(boot: BootSettings | undefined, rack: IpAddress): BootChoices | null {
  if (boot === undefined) return null;
  const { nextServer, ...files } = boot;
  if (Object.values(files).length === 0 && nextServer === undefined) return null;
  const file = (text: string | undefined): string | null => text?.replaceAll(RACK_PLACE, rack) ?? null;
  return {
    nextServer: nextServer ?? rack,
    bios: file(files.bios),
    uefiX64: file(files.uefiX64),
    uefiArm64: file(files.uefiArm64),
    httpX64: file(files.httpX64),
    httpArm64: file(files.httpArm64),
    ipxe: file(files.ipxe),
    onie: file(files.onie),
  };
}

/** dhcpd's own lower bound (300 s) said aloud; a subnet with shorter leases sets it itself. */
const MIN_LEASE_TIME = 300;

export function windowLeaseTimes(subnet: DesiredSubnet): LeaseTimes {
  const min = subnet.dhcp?.minLeaseTime ?? Math.min(subnet.leaseTime, MIN_LEASE_TIME);
  return { min, usual: subnet.leaseTime, max: subnet.maxLeaseTime };
}

function ipv4Only(addresses: readonly IpAddress[]): IpAddress[] {
  return addresses.filter((address) => addressFamily(address) === 4);
}
