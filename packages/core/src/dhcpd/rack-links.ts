import type { IpAddress } from "../address/ip.js";
import type { IpPrefix } from "../address/prefix.js";

/** One interface of the rack that serves one subnet. */
export interface RackLink {
  /** Interface name as the kernel has it. */
  readonly name: string;
  /** The subnet's number in the desired state. */
  readonly subnetId: number;
  /** The rack's own real address in that prefix, never a VIP: it becomes the DHCP server identifier. */
  readonly address: IpAddress;
}

/** Where the messages of a relayed subnet arrive. */
export interface RelayLink extends RackLink {
  /** The network that the address is in: dhcpd listens only where it has one declared. */
  readonly network: IpPrefix;
}

/** What only the rack itself knows when it renders: which of its interfaces serves which subnet. */
export interface RackLinks {
  readonly links: readonly RackLink[];
  /** Left out, there are none. */
  readonly relays?: readonly RelayLink[];
}
