import type { HardwareAddress } from "../address/hardware.js";
import { clientIdentifier, option6, OPTION6 } from "./options6.js";

const INFORMATION_REQUEST = 11;
const REPLY = 7;

/** Asks a DHCPv6 server for configuration only: it gives no address and writes nothing down (RFC 8415 §18.2.6). `transactionId`: 24 bits. */
export function encodeInformationRequest(transactionId: number, hardwareAddress: HardwareAddress): Uint8Array {
  return Uint8Array.from([
    INFORMATION_REQUEST,
    ...[(transactionId >> 16) & 0xff, (transactionId >> 8) & 0xff, transactionId & 0xff],
    ...clientIdentifier(hardwareAddress),
    ...option6(OPTION6.oro, [0, OPTION6.dnsServers]),
    ...option6(OPTION6.elapsedTime, [0, 0]),
  ]);
}

/** Whether these octets are a server's reply to that transaction. */
export function isReplyTo(packet: Uint8Array, transactionId: number): boolean {
  const [type, a = 0, b = 0, c = 0] = packet;
  return type === REPLY && ((a << 16) | (b << 8) | c) === (transactionId & 0xffffff);
}
