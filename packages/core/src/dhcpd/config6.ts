import type { HardwareAddress } from "../address/hardware.js";
import type { IpAddress } from "../address/ip.js";
import type { IpPrefix, IpRange } from "../address/prefix.js";
import type { Problem } from "../problem.js";
import type { LeaseTimes } from "./config.js";

/** What `dhcpd -6` is to serve, as values: the tree between desired state and text. Times in seconds. */
export interface Dhcpd6Config {
  readonly sharedNetworks: readonly SharedNetwork6[];
  readonly hosts: readonly DhcpdHost6[];
  /** Names of the interfaces it must listen on; with none it must not run at all. */
  readonly interfaces: readonly string[];
  /** Findings that leave the rest servable: the part they name is not in the configuration. */
  readonly warnings: readonly Problem[];
}

/** All IPv6 subnets that share one wire. */
export interface SharedNetwork6 {
  readonly name: string;
  /** Not where a subnet of this wire belongs to somebody else's server. */
  readonly authoritative: boolean;
  readonly subnets: readonly SubnetDeclaration6[];
}

/** `subnet6 PREFIX { ... }`. Routers and MTU are no matter of DHCPv6: machines learn them from router advertisements (RFC 8415 §4). */
export interface SubnetDeclaration6 {
  /** The subnet of the desired state it serves. */
  readonly subnetId: number;
  readonly prefix: IpPrefix;
  /** The rack's own in it. */
  readonly ownAddress: IpAddress;
  /** RFC 3646; an empty list leaves the option out. */
  readonly domainNameServers: readonly IpAddress[];
  readonly domainSearch: readonly string[];
  /** RFC 4075: dhcpd 4.4 has no name for the NTP option of RFC 5908. */
  readonly sntpServers: readonly IpAddress[];
  readonly leaseTimes: LeaseTimes;
  /** For machines without a host declaration: ascending, not touching, not overlapping. */
  readonly ranges: readonly IpRange[];
}

/**
 * `host NAME { hardware ethernet ...; fixed-address6 ...; }`. dhcpd matches the hardware address against the one in the client's identifier, which has
 * one in DUID-LL and DUID-LLT only (RFC 8415 §11).
 */
export interface DhcpdHost6 {
  readonly name: string;
  readonly subnetId: number;
  readonly hardwareAddress: HardwareAddress;
  readonly fixedAddress: IpAddress;
}
