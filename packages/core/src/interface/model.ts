import type { HardwareAddress } from "../address/hardware.js";
import type { IpAddress } from "../address/ip.js";
import type { IpPrefix } from "../address/prefix.js";

/**
 * One address as the kernel has it on one interface, nothing judged and nothing lost (ip-address(8)). The key on a host is
 * (interface, address, prefix length).
 */
export interface InterfaceAddress {
  readonly address: IpAddress;
  readonly prefixLength: number;
  /** The other end of a point-to-point address. */
  readonly peer: IpAddress | null;
  readonly broadcast: IpAddress | null;
  /** `global`, `site`, `link`, `host` or a number that iproute2 has no name for. */
  readonly scope: string;
  readonly label: string | null;
  /** Kernel flags in lower case: `secondary`, `dynamic`, `deprecated`, `tentative`, `dadfailed`, `temporary`, `nodad`, `noprefixroute`, ... */
  readonly flags: readonly string[];
  /** Name of the address protocol where iproute2 shows it (`keepalived`, `kernel_lo`); null on Debian 12. */
  readonly protocol: string | null;
  /** Seconds left; null is for ever. */
  readonly validLifetime: number | null;
  readonly preferredLifetime: number | null;
}

/** One network interface of a rack host. */
export interface HostInterface {
  readonly name: string;
  readonly index: number | null;
  /** Lower link or master: the bond of a slave, the bridge of a port, the NIC of a VLAN. */
  readonly parent: string | null;
  /** linkinfo kind: `veth`, `bond`, `bridge`, `vlan`, `macvlan`, `tun`, `wireguard`, ...; null for a plain NIC. */
  readonly kind: string | null;
  readonly vlanId: number | null;
  readonly hardwareAddress: HardwareAddress | null;
  readonly permanentAddress: HardwareAddress | null;
  /** Interface flags as ip prints them: `UP`, `LOWER_UP`, `POINTOPOINT`, `LOOPBACK`, ...; empty when unknown. */
  readonly flags: readonly string[];
  readonly mtu: number | null;
  readonly addresses: readonly InterfaceAddress[];
}

/** One route of the main table (ip-route(8)); a default route has destination `0.0.0.0/0` or `::/0`. */
export interface HostRoute {
  readonly destination: IpPrefix;
  readonly gateway: IpAddress | null;
  readonly interfaceName: string | null;
  /** The `src` that the kernel takes when the program names none. */
  readonly preferredSource: IpAddress | null;
  readonly protocol: string | null;
  readonly scope: string | null;
  readonly metric: number | null;
}

/** A neighbour seen by ARP or NDP on one interface (ip-neighbour(8)). */
export interface Neighbor {
  readonly interfaceName: string;
  readonly address: IpAddress;
  readonly hardwareAddress: HardwareAddress;
  /** `REACHABLE`, `STALE`, `PERMANENT`, ...; empty when unknown. */
  readonly states: readonly string[];
}
