import type { HardwareAddress } from "../address/hardware.js";
import type { IpAddress } from "../address/ip.js";
import type { IpPrefix, IpRange } from "../address/prefix.js";
import type { Problem } from "../problem.js";

/** What dhcpd is to serve on IPv4, as values: the tree between desired state and text. Times in seconds. */
export interface DhcpdConfig {
  readonly sharedNetworks: readonly SharedNetwork[];
  readonly hosts: readonly DhcpdHost[];
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
  readonly serverIdentifier: IpAddress;
  readonly options: SubnetOptions;
  readonly leaseTimes: LeaseTimes;
  readonly pools: readonly Pool[];
}

/** DHCP options (RFC 2132, RFC 3397) of one subnet; an empty list or null leaves the option out. */
export interface SubnetOptions {
  readonly routers: readonly IpAddress[];
  readonly domainName: string | null;
  readonly domainSearch: readonly string[];
  readonly domainNameServers: readonly IpAddress[];
  readonly ntpServers: readonly IpAddress[];
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

/** `host NAME { hardware ...; fixed-address ...; }`: one for each (hardware address, network). */
export interface DhcpdHost {
  readonly name: string;
  readonly subnetId: number;
  readonly hardwareAddress: HardwareAddress;
  readonly fixedAddress: IpAddress;
  /** What the machine is told it is called: the first label of its name. */
  readonly hostName: string;
  /** Its domain, where that is not the subnet's. */
  readonly domainName: string | null;
}
