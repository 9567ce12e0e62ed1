import type { IpAddress } from "../address/ip.js";
import type { IpPrefix, IpRange } from "../address/prefix.js";
import type { DesiredHost } from "../desired/schema.js";
import type { Problem } from "../problem.js";

/** What dhcpd is to serve on IPv4, as values: the tree between desired state and text. Times in seconds. */
export interface DhcpdConfig {
  readonly sharedNetworks: readonly SharedNetwork[];
  /** Networks through which relayed messages arrive and where nothing is served. */
  readonly carriers: readonly IpPrefix[];
  /** At most one group a subnet. */
  readonly hosts: readonly HostGroup[];
  /** Each is used by a pool. */
  readonly failovers: readonly FailoverPeer[];
  /** Names of the interfaces dhcpd must listen on; with none it must not run at all. */
  readonly interfaces: readonly string[];
  /** Findings that leave the rest servable: the part they name is not in the configuration. */
  readonly warnings: readonly Problem[];
}

/** All subnets that share one wire (dhcpd.conf(5), shared-network). */
export interface SharedNetwork {
  readonly name: string;
  /**
   * Whether dhcpd may refuse (NAK) addresses it does not know. Not where a subnet of this wire belongs to somebody else's server: its
   * clients would lose their addresses.
   */
  readonly authoritative: boolean;
  readonly serverIdentifier: IpAddress;
  readonly subnets: readonly SubnetDeclaration[];
}

export interface SubnetDeclaration {
  /** The subnet of the desired state it serves. */
  readonly subnetId: number;
  readonly prefix: IpPrefix;
  /** Served through relays: the server identifier is an address elsewhere. */
  readonly relayed: boolean;
  readonly serverIdentifier: IpAddress;
  readonly options: SubnetOptions;
  readonly leaseTimes: LeaseTimes;
  readonly pools: readonly Pool[];
  /** Name of the failover peer that shares the pools; null: they are this rack's alone. */
  readonly failover: string | null;
  readonly boot: BootChoices | null;
  /** Reviewed statements of an operator, or null. */
  readonly snippet: string | null;
}

/** DHCP options (RFC 2132, RFC 3397) of one subnet; an empty list or null leaves the option out. */
export interface SubnetOptions {
  readonly routers: readonly IpAddress[];
  readonly domainName: string | null;
  readonly domainSearch: readonly string[];
  readonly domainNameServers: readonly IpAddress[];
  readonly ntpServers: readonly IpAddress[];
  readonly mtu: number | null;
  readonly routes: readonly Route[];
  /** By the name that dhcp-options(5) gives. */
  readonly more: readonly NamedOption[];
}

/** RFC 3442: a prefix and the router to it. */
export interface Route {
  readonly prefix: IpPrefix;
  readonly via: IpAddress;
}

export interface NamedOption {
  readonly name: string;
  readonly value: number | { readonly text: string } | { readonly addresses: readonly IpAddress[] };
}

/** What machines load, by the architecture of their firmware; null gives that kind nothing. `{rack}` is replaced already. */
export interface BootChoices {
  readonly nextServer: IpAddress;
  readonly bios: string | null;
  readonly uefiX64: string | null;
  readonly uefiArm64: string | null;
  readonly httpX64: string | null;
  readonly httpArm64: string | null;
  readonly ipxe: string | null;
  readonly onie: string | null;
}

/** `failover peer NAME { ... }`: this rack's side. Times in seconds. */
export interface FailoverPeer {
  readonly name: string;
  readonly role: "primary" | "secondary";
  readonly address: IpAddress;
  readonly partner: IpAddress;
  readonly port: number;
  readonly mclt: number;
  readonly split: number;
}

export interface LeaseTimes {
  readonly min: number;
  readonly usual: number;
  readonly max: number;
}

/** Dynamic addresses for machines without a host declaration. */
export interface Pool {
  /** Ascending, not touching, not overlapping. */
  readonly ranges: readonly IpRange[];
}

/**
 * `host NAME { hardware ...; fixed-address ...; }`, one for each (hardware address, network): the hosts of one subnet, as they are in the desired
 * state. They may be tens of thousands, so nothing is made of each of them before the text.
 */
export interface HostGroup {
  readonly subnetId: number;
  /** The subnet's: a machine whose name is in another domain is told so. */
  readonly domain: string;
  /** By address, then by hardware address: bonds have several of them on one address. */
  readonly hosts: readonly DesiredHost[];
}

/** The name of a host declaration: unique, and nothing of what it says comes from outside. */
export function declarationName(subnetId: number, hardwareAddress: string): string {
  return `s${subnetId}-${hardwareAddress.replaceAll(":", "")}`;
}
