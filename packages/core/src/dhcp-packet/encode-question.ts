import { addressBytes, type IpAddress } from "../address/ip.js";
import { hardwareOctets, isEthernet } from "../address/hardware.js";
import { assert } from "../problem.js";
import { DHCP_MESSAGE_TYPES, type DhcpQuestion } from "./model.js";
import { encodeOption } from "./options.js";

const BOOT_REQUEST = 1;
const ETHERNET = 1;
const ETHERNET_OCTETS = 6;
const BROADCAST_FLAG = 0x8000;
const COOKIE = 0x63825363;
const HEADER_OCTETS = 240;
/** BOOTP's shortest message (RFC 1542 §2.1): some relays and servers drop less. */
const LENGTH_MIN = 300;
const END = 255;

/** The question as it travels in a UDP datagram (RFC 2131 §2, RFC 2132). */
export function encodeDhcpQuestion(question: DhcpQuestion): Uint8Array {
  assert(isEthernet(question.hardwareAddress), `not an Ethernet address: ${question.hardwareAddress}`);
  const options = encodeOptions(question);
  const packet = new Uint8Array(Math.max(LENGTH_MIN, HEADER_OCTETS + options.length));
  const view = new DataView(packet.buffer);
  packet.set([BOOT_REQUEST, ETHERNET, ETHERNET_OCTETS, question.relayAddress === undefined ? 0 : 1]);
  view.setUint32(4, question.transactionId);
  view.setUint16(10, question.broadcast === true ? BROADCAST_FLAG : 0);
  setAddress(packet, 12, question.clientAddress);
  setAddress(packet, 24, question.relayAddress);
  packet.set(hardwareOctets(question.hardwareAddress), 28);
  view.setUint32(236, COOKIE);
  packet.set(options, HEADER_OCTETS);
  return packet;
}

function encodeOptions({ type, requestedAddress, serverIdentifier, wanted }: DhcpQuestion): number[] {
  const octets = encodeOption(53, Uint8Array.of(DHCP_MESSAGE_TYPES[type]));
  if (requestedAddress !== undefined) octets.push(...encodeOption(50, ipv4Bytes(requestedAddress)));
  if (serverIdentifier !== undefined) octets.push(...encodeOption(54, ipv4Bytes(serverIdentifier)));
  if (wanted !== undefined && wanted.length > 0) octets.push(...encodeOption(55, Uint8Array.from(wanted)));
  octets.push(END);
  return octets;
}

function setAddress(packet: Uint8Array, at: number, address: IpAddress | undefined): void {
  if (address !== undefined) packet.set(ipv4Bytes(address), at);
}

function ipv4Bytes(address: IpAddress): Uint8Array {
  const octets = addressBytes(address);
  assert(octets.length === 4, `not an IPv4 address: ${address}`);
  return octets;
}
