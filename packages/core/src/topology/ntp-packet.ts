/** Length of an NTP header without extensions, octets (RFC 5905 §7.3). */
export const NTP_PACKET_OCTETS = 48;

/** Why a time server must not be offered to machines. */
export type NtpRefusal = "malformed" | "not-our-question" | "kiss-of-death" | "unsynchronised";

const VERSION = 4;
const MODE_CLIENT = 3;
const MODE_SERVER = 4;
/** RFC 5905 figure 9: the clock was never set. */
const LEAP_UNSYNCHRONISED = 3;
/** RFC 5905 figure 11: 16 is unsynchronised, above it nothing is defined. */
const STRATUM_UNSYNCHRONISED = 16;
/** Where the answer repeats what the question had as its transmit timestamp. */
const ORIGIN = 24;
const TRANSMIT = 40;

/** A client's question. The eight octets stand where its clock would: the answer brings them back, so a stranger cannot answer blindly. */
export function encodeNtpQuestion(nonce: Uint8Array): Uint8Array {
  const packet = new Uint8Array(NTP_PACKET_OCTETS);
  packet[0] = (VERSION << 3) | MODE_CLIENT;
  packet.set(nonce.subarray(0, 8), TRANSMIT);
  return packet;
}

/** Whether an answer to that question comes from a server that has the time; null when it does, else why not. */
export function checkNtpAnswer(packet: Uint8Array, nonce: Uint8Array): NtpRefusal | null {
  if (packet.length < NTP_PACKET_OCTETS) return "malformed";
  const [first = 0, stratum = 0] = packet;
  if ((first & 7) !== MODE_SERVER) return "malformed";
  if (!nonce.subarray(0, 8).every((octet, i) => packet[ORIGIN + i] === octet)) return "not-our-question";
  if (stratum === 0) return "kiss-of-death";
  return first >> 6 === LEAP_UNSYNCHRONISED || stratum >= STRATUM_UNSYNCHRONISED ? "unsynchronised" : null;
}
