import { addressAt, addressBytes, macAt, macBytes } from "./ethernet.js";

/** Option 53, RFC 2132 §9.6. */
export const MESSAGE_TYPES = { DISCOVER: 1, OFFER: 2, REQUEST: 3, DECLINE: 4, ACK: 5, NAK: 6, RELEASE: 7, INFORM: 8 } as const;
export type MessageType = keyof typeof MESSAGE_TYPES;

export interface DhcpPacket {
  readonly type: MessageType;
  readonly transactionId: number;
  readonly mac: string;
  readonly clientAddress?: string;
  readonly relayAddress?: string;
  readonly broadcast?: boolean;
  /** Since the client began, RFC 2131 §2; servers that share a network wait for it to grow before they answer for each other. */
  readonly seconds?: number;
  /** Code and content, in this order; 53 is added. */
  readonly options: readonly (readonly [number, Uint8Array])[];
}

export interface DhcpReply {
  readonly type: MessageType;
  readonly transactionId: number;
  /** chaddr. */
  readonly mac: string;
  /** yiaddr; `0.0.0.0` in a NAK. */
  readonly address: string;
  readonly serverId: string | null;
  /** Who sent the frame. */
  readonly serverMac: string;
  readonly leaseSeconds: number | null;
  readonly mask: string | null;
  readonly routers: readonly string[];
  readonly nameServers: readonly string[];
  readonly ntpServers: readonly string[];
  readonly domainName: string | null;
  readonly hostName: string | null;
  readonly message: string | null;
  readonly nextServer: string;
  /** The header's file field, or option 67. */
  readonly bootFile: string | null;
  readonly options: ReadonlyMap<number, Buffer>;
}

const COOKIE = 0x63825363;
const HEADER = 240;
/** BOOTP's shortest message, RFC 1542 §2.1; some relays drop less. */
const LENGTH_MIN = 300;

/** RFC 2131 §2. */
export function encodeDhcp(packet: DhcpPacket): Buffer {
  const header = Buffer.alloc(HEADER);
  header[0] = 1;
  header[1] = 1;
  header[2] = 6;
  header[3] = packet.relayAddress === undefined ? 0 : 1;
  header.writeUInt32BE(packet.transactionId, 4);
  header.writeUInt16BE(packet.seconds ?? 0, 8);
  header.writeUInt16BE(packet.broadcast === true ? 0x8000 : 0, 10);
  addressBytes(packet.clientAddress ?? "0.0.0.0").copy(header, 12);
  addressBytes(packet.relayAddress ?? "0.0.0.0").copy(header, 24);
  macBytes(packet.mac).copy(header, 28);
  header.writeUInt32BE(COOKIE, 236);
  const all: (readonly [number, Uint8Array])[] = [[53, Uint8Array.of(MESSAGE_TYPES[packet.type])], ...packet.options];
  const body = Buffer.concat([header, ...all.flatMap(([code, value]) => encodeOption(code, value)), Buffer.of(255)]);
  return body.length >= LENGTH_MIN ? body : Buffer.concat([body, Buffer.alloc(LENGTH_MIN - body.length)]);
}

/** Longer values are split and joined again by the reader, RFC 3396. */
function encodeOption(code: number, value: Uint8Array): Buffer[] {
  const parts: Buffer[] = [];
  for (let at = 0; at === 0 || at < value.length; at += 255) {
    const part = value.subarray(at, at + 255);
    parts.push(Buffer.of(code, part.length), Buffer.from(part));
  }
  return parts;
}

/** Null when this is no DHCP reply. */
export function decodeDhcpReply(payload: Buffer, serverMac: string): DhcpReply | null {
  if (payload.length < HEADER || payload[0] !== 2 || payload.readUInt32BE(236) !== COOKIE) return null;
  const options = decodeOptions(payload);
  const type = (Object.keys(MESSAGE_TYPES) as MessageType[]).find((name) => MESSAGE_TYPES[name] === options.get(53)?.[0]);
  if (type === undefined) return null;
  const text = (code: number): string | null => options.get(code)?.toString("latin1").replace(/\0+$/, "") ?? null;
  const addresses = (code: number): string[] => addressList(options.get(code));
  const file = payload.subarray(108, 236).toString("latin1").replace(/\0.*$/s, "");
  return {
    type,
    transactionId: payload.readUInt32BE(4),
    mac: macAt(payload, 28),
    address: addressAt(payload, 16),
    serverId: addresses(54)[0] ?? null,
    serverMac,
    leaseSeconds: options.get(51)?.readUInt32BE(0) ?? null,
    mask: addresses(1)[0] ?? null,
    routers: addresses(3),
    nameServers: addresses(6),
    ntpServers: addresses(42),
    domainName: text(15),
    hostName: text(12),
    message: text(56),
    nextServer: addressAt(payload, 20),
    bootFile: file === "" ? text(67) : file,
    options,
  };
}

function addressList(value: Buffer | undefined): string[] {
  const addresses: string[] = [];
  for (let at = 0; value !== undefined && at + 4 <= value.length; at += 4) addresses.push(addressAt(value, at));
  return addresses;
}

function decodeOptions(payload: Buffer): Map<number, Buffer> {
  const options = new Map<number, Buffer>();
  for (let at = HEADER; at < payload.length && payload[at] !== 255; ) {
    const code = payload[at] ?? 0;
    if (code === 0) {
      at++;
      continue;
    }
    const length = payload[at + 1] ?? 0;
    const value = Buffer.from(payload.subarray(at + 2, at + 2 + length));
    options.set(code, Buffer.concat([options.get(code) ?? Buffer.alloc(0), value]));
    at += 2 + length;
  }
  return options;
}
