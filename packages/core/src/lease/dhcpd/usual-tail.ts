import type { Lease4Block } from "./lease4-block.js";
import { parseLease4Block } from "./lease4-block.js";
import { silentSink } from "./statements.js";
import { decodeString } from "./string-value.js";
import { NEWLINE } from "./tokens.js";

/** Where values begin in dhcpd's own lines: `  hardware ethernet `, `  uid "`, `  client-hostname "`. */
const HARDWARE = 20;
const UID = 7;
const HOSTNAME = 19;
/** Between the last character of a string and the next line: the quote, the semicolon and the newline. */
const STRING_END = 3;

/**
 * Reads what {@link FastTail} found to be in dhcpd's own layout: one statement a line, each kind known by its third character. An append is read at once and told at
 * once, and the general reader is a good part of the time until then.
 */
export function readUsualTail(bytes: Uint8Array, start: number, end: number, block: Lease4Block): void {
  for (let at = start; at < end; ) {
    const next = bytes.indexOf(NEWLINE, at) + 1;
    switch (bytes[at + 2]) {
      case 0x68: // hardware
        block.hardware = { type: "ethernet", octets: ethernetAt(bytes, at + HARDWARE) };
        break;
      case 0x75: // uid
        block.clientId = next - at > UID + STRING_END ? decodeString(bytes, at + UID, next - STRING_END).octets : null;
        break;
      case 0x63: // client-hostname
        block.clientHostname = decodeString(bytes, at + HOSTNAME, next - STRING_END).octets;
        break;
      default:
        parseLease4Block({ bytes, start: at, end: next, damaged: false }, block, silentSink);
    }
    at = next;
  }
}

function ethernetAt(bytes: Uint8Array, start: number): Uint8Array {
  const octets = new Uint8Array(6);
  for (let i = 0, at = start; i < 6; i++, at += 3) octets[i] = (hexValue(bytes[at] ?? 0) << 4) | hexValue(bytes[at + 1] ?? 0);
  return octets;
}

/** Of a digit that is known to be one. */
function hexValue(digit: number): number {
  return digit <= 0x39 ? digit & 15 : (digit & 15) + 9;
}
