import type { HardwareAddress } from "../address/hardware.js";
import { hardwareOctets } from "../address/hardware.js";

const INFORMATION_REQUEST = 11;
const REPLY = 7;
const OPTION_CLIENTID = 1;
const OPTION_ORO = 6;
const OPTION_DNS_SERVERS = 23;
const OPTION_ELAPSED_TIME = 8;
/** DUID-LL over Ethernet (RFC 8415 §11.4). */
const DUID_LL_ETHERNET = [0, 3, 0, 1];

/** Asks a DHCPv6 server for configuration only: it gives no address and writes nothing down (RFC 8415 §18.2.6). `transactionId`: 24 bits. */
export function encodeInformationRequest(transactionId: number, hardwareAddress: HardwareAddress): Uint8Array {
  const duid = [...DUID_LL_ETHERNET, ...hardwareOctets(hardwareAddress)];
  return Uint8Array.from([
    INFORMATION_REQUEST,
    ...[(transactionId >> 16) & 0xff, (transactionId >> 8) & 0xff, transactionId & 0xff],
    ...option(OPTION_CLIENTID, duid),
    ...option(OPTION_ORO, [0, OPTION_DNS_SERVERS]),
    ...option(OPTION_ELAPSED_TIME, [0, 0]),
  ]);
}

/** Whether these octets are a server's reply to that transaction. */
export function isReplyTo(packet: Uint8Array, transactionId: number): boolean {
  const [type, a = 0, b = 0, c = 0] = packet;
  return type === REPLY && ((a << 16) | (b << 8) | c) === (transactionId & 0xffffff);
}

function option(code: number, value: readonly number[]): number[] {
  return [code >> 8, code & 0xff, value.length >> 8, value.length & 0xff, ...value];
}
