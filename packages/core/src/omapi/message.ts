/**
 * OMAPI, the control protocol of ISC dhcpd (omapi(3), dhcpd(8) "OMAPI"), as values. Numbers are unsigned 32-bit in network order on the wire.
 */
export interface OmapiMessage {
  /** Handle of the authenticator that signed it; 0 for none. */
  readonly authenticator: number;
  readonly operation: number;
  /** Object it is about; 0 for none yet. */
  readonly handle: number;
  readonly transaction: number;
  /** Transaction that it answers; 0 in a request. */
  readonly answers: number;
  /** About the message: its type, result and text. */
  readonly message: OmapiValues;
  /** About the object. */
  readonly object: OmapiValues;
}

/** Names to octets, in the order of the wire. */
export type OmapiValues = ReadonlyMap<string, Uint8Array>;

export const OMAPI_OPERATIONS = { open: 1, refresh: 2, update: 3, notify: 4, status: 5, delete: 6 } as const;

/** What both sides say first: protocol version and length of the fixed part of a message. */
export const OMAPI_HELLO: readonly [version: number, headerLength: number] = [100, 24];

/** Octets of an HMAC-SHA256. */
export const OMAPI_SIGNATURE_BYTES = 32;

/** Limits of what a server may say; real answers have some 30 values in less than 2,000 octets. */
export const OMAPI_MESSAGE_BYTES_MAX = 64 * 1024;
export const OMAPI_VALUES_MAX = 256;

/** Computes the HMAC-SHA256 of these octets under the key; core has no cryptography of its own. */
export type OmapiSign = (octets: Uint8Array) => Uint8Array;

export function omapiNumber(value: number): Uint8Array {
  const octets = new Uint8Array(4);
  new DataView(octets.buffer).setUint32(0, value);
  return octets;
}

export function omapiText(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0) & 0xff);
}

/** The number in a value of 1, 2 or 4 octets; null for any other. */
export function readOmapiNumber(octets: Uint8Array | undefined): number | null {
  if (octets === undefined || ![1, 2, 4].includes(octets.length)) return null;
  return octets.reduce((number, octet) => number * 256 + octet, 0);
}

/** Text of a value, one character an octet; what is not printable ASCII becomes `?`. */
export function readOmapiText(octets: Uint8Array | undefined): string {
  return Array.from(octets ?? [], (octet) => (octet >= 0x20 && octet < 0x7f ? String.fromCharCode(octet) : "?")).join("");
}
