import type { HardwareAddress } from "../address/hardware.js";
import { addressFromBytes, type IpAddress } from "../address/ip.js";
import { clientIdentifier, option6, OPTION6 } from "./options6.js";

const SOLICIT = 1;
const ADVERTISE = 2;
/** Far more than any server sends. */
const LENGTH_MAX = 16_384;
const HEADER_OCTETS = 4;
/** In an IA_NA before its options: IAID, T1, T2 (RFC 8415 §21.4). */
const IA_HEADER_OCTETS = 12;
/** An address and two lifetimes (RFC 8415 §21.6). */
const IA_ADDRESS_OCTETS = 24;
const ADDRESSES_MAX = 64;

/** What a DHCPv6 server would give (ADVERTISE). Nothing in it can be trusted but its shape. */
export interface Dhcp6Advertisement {
  readonly transactionId: number;
  /** Null where the server has none to give. */
  readonly address: IpAddress | null;
  /** Valid lifetime; 4294967295 is for ever. */
  readonly leaseSeconds: number | null;
  readonly dnsServers: readonly IpAddress[];
}

/** Asks as a machine does that boots for one address (RFC 8415 §18.2.1), without rapid commit: an answer gives nothing away. `transactionId`: 24 bits. */
export function encodeSolicit(transactionId: number, hardwareAddress: HardwareAddress): Uint8Array {
  return Uint8Array.from([
    SOLICIT,
    ...[(transactionId >> 16) & 0xff, (transactionId >> 8) & 0xff, transactionId & 0xff],
    ...clientIdentifier(hardwareAddress),
    ...option6(OPTION6.iaNa, [0, 0, 0, 1, ...new Array<number>(8).fill(0)]),
    ...option6(OPTION6.oro, [0, OPTION6.dnsServers]),
    ...option6(OPTION6.elapsedTime, [0, 0]),
  ]);
}

/** A datagram of a DHCPv6 server as an ADVERTISE; null for anything else. */
export function decodeAdvertise(packet: Uint8Array): Dhcp6Advertisement | null {
  const [type, a = 0, b = 0, c = 0] = packet;
  if (type !== ADVERTISE || packet.length > LENGTH_MAX) return null;
  const options = decodeOptions6(packet.subarray(HEADER_OCTETS));
  const ia = options?.get(OPTION6.iaNa);
  if (options === null) return null;
  const inside = ia === undefined || ia.length < IA_HEADER_OCTETS ? undefined : decodeOptions6(ia.subarray(IA_HEADER_OCTETS));
  const given = inside?.get(OPTION6.iaAddress);
  const isWhole = given !== undefined && given.length >= IA_ADDRESS_OCTETS;
  return {
    transactionId: (a << 16) | (b << 8) | c,
    address: isWhole ? addressFromBytes(given.subarray(0, 16)) : null,
    leaseSeconds: isWhole ? new DataView(given.buffer, given.byteOffset, given.length).getUint32(20) : null,
    dnsServers: addressesOf(options.get(OPTION6.dnsServers)),
  };
}

/** The first of each code; null where the octets are no options. */
function decodeOptions6(octets: Uint8Array): ReadonlyMap<number, Uint8Array> | null {
  const options = new Map<number, Uint8Array>();
  for (let at = 0; at < octets.length; ) {
    const [high, low, lengthHigh, lengthLow] = octets.subarray(at, at + 4);
    if (high === undefined || low === undefined || lengthHigh === undefined || lengthLow === undefined) return null;
    const end = at + 4 + ((lengthHigh << 8) | lengthLow);
    if (end > octets.length) return null;
    const code = (high << 8) | low;
    if (!options.has(code)) options.set(code, octets.subarray(at + 4, end));
    at = end;
  }
  return options;
}

function addressesOf(value: Uint8Array | undefined): readonly IpAddress[] {
  if (value === undefined || value.length % 16 !== 0) return [];
  const list: IpAddress[] = [];
  for (let at = 0; at < value.length && list.length < ADDRESSES_MAX; at += 16) {
    const address = addressFromBytes(value.subarray(at, at + 16));
    if (address !== null) list.push(address);
  }
  return list;
}
