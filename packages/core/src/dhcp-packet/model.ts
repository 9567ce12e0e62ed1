import type { HardwareAddress } from "../address/hardware.js";
import type { IpAddress } from "../address/ip.js";

/** DHCP message types by their number in option 53 (RFC 2132 §9.6). */
export const DHCP_MESSAGE_TYPES = {
  discover: 1,
  offer: 2,
  request: 3,
  decline: 4,
  ack: 5,
  nak: 6,
  release: 7,
  inform: 8,
} as const;
export type DhcpMessageType = keyof typeof DHCP_MESSAGE_TYPES;

export const DHCP_SERVER_PORT = 67;
export const DHCP_CLIENT_PORT = 68;

/** What a client, or a relay on its behalf, asks (RFC 2131 §2). All addresses are IPv4. */
export interface DhcpQuestion {
  readonly type: "discover" | "request" | "inform" | "release" | "decline";
  /** xid: 32 bits that the reply repeats. */
  readonly transactionId: number;
  /** chaddr: an Ethernet address. */
  readonly hardwareAddress: HardwareAddress;
  /** Asks for a broadcast reply (RFC 2131 §4.1); false unless told. */
  readonly broadcast?: boolean;
  /** ciaddr: the address that the client has, as in INFORM. */
  readonly clientAddress?: IpAddress;
  /** giaddr: the server answers to this address, port 67, and chooses the network by it. */
  readonly relayAddress?: IpAddress;
  /** Option 50. */
  readonly requestedAddress?: IpAddress;
  /** Option 54. */
  readonly serverIdentifier?: IpAddress;
  /** Option 55: codes of the options that the reply should carry. */
  readonly wanted?: readonly number[];
}

/** What a server said. Absent and malformed values are null or empty; nothing in it can be trusted but its shape. */
export interface DhcpReply {
  readonly type: "offer" | "ack" | "nak";
  readonly transactionId: number;
  /** chaddr, null unless Ethernet. */
  readonly hardwareAddress: HardwareAddress | null;
  /** yiaddr: what the client may have; null where it is 0.0.0.0, as in a NAK and in the answer to an INFORM. */
  readonly address: IpAddress | null;
  /** siaddr. */
  readonly nextServer: IpAddress | null;
  /** giaddr. */
  readonly relayAddress: IpAddress | null;
  /** Option 54; RFC 2131 §4.3.1 says that every server sends it, not every one does. */
  readonly serverIdentifier: IpAddress | null;
  /** Seconds; 4294967295 is for ever. */
  readonly leaseSeconds: number | null;
  readonly subnetMask: IpAddress | null;
  readonly routers: readonly IpAddress[];
  readonly dnsServers: readonly IpAddress[];
  /** Option 15, only if it is printable ASCII. */
  readonly domainName: string | null;
  /** Option 67 or the header's file field, only if it is printable ASCII. */
  readonly bootFile: string | null;
}
