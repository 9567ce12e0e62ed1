/** EtherTypes, IEEE 802 numbers. */
const IPV4 = 0x0800;
const ARP = 0x0806;

export const BROADCAST_MAC = "ff:ff:ff:ff:ff:ff";

export interface UdpDatagram {
  readonly sourceMac: string;
  readonly destinationMac: string;
  readonly source: string;
  readonly destination: string;
  readonly sourcePort: number;
  readonly destinationPort: number;
  readonly payload: Buffer;
}

export interface ArpPacket {
  readonly operation: "request" | "reply";
  readonly senderMac: string;
  readonly senderAddress: string;
  readonly targetMac: string;
  readonly targetAddress: string;
}

/** RFC 768 in RFC 791 in Ethernet. The UDP checksum is left out, which RFC 768 allows. */
export function encodeUdp(datagram: UdpDatagram): Buffer {
  const udp = Buffer.alloc(8);
  udp.writeUInt16BE(datagram.sourcePort, 0);
  udp.writeUInt16BE(datagram.destinationPort, 2);
  udp.writeUInt16BE(8 + datagram.payload.length, 4);
  return encodeIpv4(datagram, 17, Buffer.concat([udp, datagram.payload]));
}

/** Null when the frame is no UDP over IPv4. Checksums are not judged: the kernel leaves them to hardware that a lab has not. */
export function decodeUdp(frame: Buffer): UdpDatagram | null {
  const headerLength = ipv4HeaderLength(frame, 17);
  if (headerLength === null) return null;
  const at = 14 + headerLength;
  if (frame.length < at + 8) return null;
  return {
    destinationMac: macAt(frame, 0),
    sourceMac: macAt(frame, 6),
    source: addressAt(frame, 26),
    destination: addressAt(frame, 30),
    sourcePort: frame.readUInt16BE(at),
    destinationPort: frame.readUInt16BE(at + 2),
    payload: frame.subarray(at + 8, at + Math.max(8, frame.readUInt16BE(at + 4))),
  };
}

/** RFC 826; a request goes to everyone, a reply to its target. */
export function encodeArp(packet: ArpPacket): Buffer {
  const frame = Buffer.alloc(60);
  macBytes(packet.operation === "request" ? BROADCAST_MAC : packet.targetMac).copy(frame, 0);
  macBytes(packet.senderMac).copy(frame, 6);
  frame.writeUInt16BE(ARP, 12);
  frame.writeUInt16BE(1, 14);
  frame.writeUInt16BE(IPV4, 16);
  frame[18] = 6;
  frame[19] = 4;
  frame.writeUInt16BE(packet.operation === "request" ? 1 : 2, 20);
  macBytes(packet.senderMac).copy(frame, 22);
  addressBytes(packet.senderAddress).copy(frame, 28);
  macBytes(packet.operation === "request" ? "00:00:00:00:00:00" : packet.targetMac).copy(frame, 32);
  addressBytes(packet.targetAddress).copy(frame, 38);
  return frame;
}

/** Null when the frame is no ARP. */
export function decodeArp(frame: Buffer): ArpPacket | null {
  if (frame.length < 42 || frame.readUInt16BE(12) !== ARP) return null;
  return {
    operation: frame.readUInt16BE(20) === 1 ? "request" : "reply",
    senderMac: macAt(frame, 22),
    senderAddress: addressAt(frame, 28),
    targetMac: macAt(frame, 32),
    targetAddress: addressAt(frame, 38),
  };
}

/** The frame that answers a ping, or null when the frame is none. RFC 792. */
export function answerPing(frame: Buffer, mac: string): Buffer | null {
  const headerLength = ipv4HeaderLength(frame, 1);
  if (headerLength === null) return null;
  const icmp = Buffer.from(frame.subarray(14 + headerLength, 14 + frame.readUInt16BE(16)));
  if (icmp.length < 8 || icmp[0] !== 8) return null;
  icmp[0] = 0;
  icmp.writeUInt16BE(0, 2);
  icmp.writeUInt16BE(checksum(icmp), 2);
  const route = {
    sourceMac: mac,
    destinationMac: macAt(frame, 6),
    source: addressAt(frame, 30),
    destination: addressAt(frame, 26),
  };
  return encodeIpv4(route, 1, icmp);
}

/** The destination of an IPv4 frame, or null. */
export function ipv4Destination(frame: Buffer): string | null {
  return frame.length >= 34 && frame.readUInt16BE(12) === IPV4 ? addressAt(frame, 30) : null;
}

export function macBytes(mac: string): Buffer {
  return Buffer.from(mac.replaceAll(":", ""), "hex");
}

export function addressBytes(address: string): Buffer {
  return Buffer.from(address.split(".").map(Number));
}

export function macAt(bytes: Buffer, at: number): string {
  return [...bytes.subarray(at, at + 6)].map((b) => b.toString(16).padStart(2, "0")).join(":");
}

export function addressAt(bytes: Buffer, at: number): string {
  return [...bytes.subarray(at, at + 4)].join(".");
}

type Route = Pick<UdpDatagram, "sourceMac" | "destinationMac" | "source" | "destination">;

function encodeIpv4(route: Route, protocol: number, payload: Buffer): Buffer {
  const frame = Buffer.alloc(34);
  macBytes(route.destinationMac).copy(frame, 0);
  macBytes(route.sourceMac).copy(frame, 6);
  frame.writeUInt16BE(IPV4, 12);
  frame[14] = 0x45;
  frame.writeUInt16BE(20 + payload.length, 16);
  frame[22] = 64;
  frame[23] = protocol;
  addressBytes(route.source).copy(frame, 26);
  addressBytes(route.destination).copy(frame, 30);
  frame.writeUInt16BE(checksum(frame.subarray(14, 34)), 24);
  return Buffer.concat([frame, payload]);
}

function ipv4HeaderLength(frame: Buffer, protocol: number): number | null {
  if (frame.length < 34 || frame.readUInt16BE(12) !== IPV4 || frame[23] !== protocol) return null;
  return ((frame[14] ?? 0) & 15) * 4;
}

/** RFC 1071. */
function checksum(bytes: Buffer): number {
  let sum = 0;
  for (let i = 0; i < bytes.length; i += 2) sum += ((bytes[i] ?? 0) << 8) | (bytes[i + 1] ?? 0);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return ~sum & 0xffff;
}
