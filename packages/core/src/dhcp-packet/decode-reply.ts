import { parseHardwareAddress, type HardwareAddress } from "../address/hardware.js";
import { addressFromBytes, type IpAddress } from "../address/ip.js";
import { DHCP_MESSAGE_TYPES, type DhcpReply } from "./model.js";
import { decodeOptions, fileFieldIsLent, type DhcpOptions } from "./options.js";

/** Why octets are no reply of a DHCP server. */
export type DhcpRefusal = "wrong-length" | "not-a-reply" | "malformed-options" | "no-message-type";

export type DecodedReply = { readonly ok: true; readonly reply: DhcpReply } | { readonly ok: false; readonly why: DhcpRefusal };

const HEADER_OCTETS = 240;
/** Far more than any server sends, and a bound on what one hostile datagram can make us keep. */
const LENGTH_MAX = 16_384;
const BOOT_REPLY = 2;
const ETHERNET = 1;
const ETHERNET_OCTETS = 6;
const COOKIE = 0x63825363;
/** Addresses read from one option. */
const ADDRESSES_MAX = 64;
const FILE_AT = 108;
const FILE_OCTETS = 128;
/** Printable ASCII; a domain name is limited to 255 octets (RFC 1035 §2.3.4), and nobody needs a longer file name. */
const PRINTABLE = /^[\x20-\x7e]{1,255}$/;

const REPLY_TYPES = ["offer", "ack", "nak"] as const;

/** A datagram of a DHCP server, of which nothing is believed before it was looked at (RFC 2131 §2, RFC 2132). */
export function decodeDhcpReply(packet: Uint8Array): DecodedReply {
  if (packet.length < HEADER_OCTETS || packet.length > LENGTH_MAX) return { ok: false, why: "wrong-length" };
  const view = new DataView(packet.buffer, packet.byteOffset, packet.length);
  if (packet[0] !== BOOT_REPLY || view.getUint32(236) !== COOKIE) return { ok: false, why: "not-a-reply" };
  const options = decodeOptions(packet);
  if (options === null) return { ok: false, why: "malformed-options" };
  const kind = options.get(53);
  const type = REPLY_TYPES.find((name) => kind?.length === 1 && DHCP_MESSAGE_TYPES[name] === kind[0]);
  if (type === undefined) return { ok: false, why: "no-message-type" };
  return {
    ok: true,
    reply: {
      type,
      transactionId: view.getUint32(4),
      hardwareAddress: ethernetAddress(packet),
      address: fieldAddress(packet, 16),
      nextServer: fieldAddress(packet, 20),
      relayAddress: fieldAddress(packet, 24),
      serverIdentifier: single(options, 54),
      leaseSeconds: seconds(options.get(51)),
      subnetMask: single(options, 1),
      routers: addresses(options, 3),
      dnsServers: addresses(options, 6),
      domainName: text(options.get(15)),
      bootFile: text(options.get(67)) ?? fileField(packet, options),
    },
  };
}

function ethernetAddress(packet: Uint8Array): HardwareAddress | null {
  if (packet[1] !== ETHERNET || packet[2] !== ETHERNET_OCTETS) return null;
  return parseHardwareAddress(
    Array.from(packet.subarray(28, 28 + ETHERNET_OCTETS), (octet) => octet.toString(16).padStart(2, "0")).join(":"),
  );
}

function fieldAddress(packet: Uint8Array, at: number): IpAddress | null {
  const address = addressFromBytes(packet.subarray(at, at + 4));
  return address === "0.0.0.0" ? null : address;
}

function single(options: DhcpOptions, code: number): IpAddress | null {
  const value = options.get(code);
  return value?.length === 4 ? fieldAddress(value, 0) : null;
}

/** Whole groups of four octets only: a list of another length says nothing certain about any of its addresses. */
function addresses(options: DhcpOptions, code: number): readonly IpAddress[] {
  const value = options.get(code);
  if (value === undefined || value.length % 4 !== 0) return [];
  const list: IpAddress[] = [];
  for (let at = 0; at < value.length && list.length < ADDRESSES_MAX; at += 4) {
    const address = fieldAddress(value, at);
    if (address !== null) list.push(address);
  }
  return list;
}

function seconds(value: Uint8Array | undefined): number | null {
  return value?.length === 4 ? new DataView(value.buffer, value.byteOffset, 4).getUint32(0) : null;
}

function text(value: Uint8Array | undefined): string | null {
  if (value === undefined || value.length > 256) return null;
  const decoded = String.fromCharCode(...value).replace(/\0+$/, "");
  return PRINTABLE.test(decoded) ? decoded : null;
}

/** The header's file field ends at its first NUL. */
function fileField(packet: Uint8Array, options: DhcpOptions): string | null {
  if (fileFieldIsLent(options)) return null;
  const field = packet.subarray(FILE_AT, FILE_AT + FILE_OCTETS);
  const end = field.indexOf(0);
  return text(end < 0 ? field : field.subarray(0, end));
}
