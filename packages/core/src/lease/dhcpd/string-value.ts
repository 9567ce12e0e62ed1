import { BACKSLASH } from "./tokens.js";

export interface DecodedString {
  readonly octets: Uint8Array;
  /** An escape that dhcpd would not write: `\108`, `\9`, a lone backslash at the end. What it stood for is lost. */
  readonly malformed: boolean;
}

/** Escapes of dhcpd's lexer besides quote, backslash and octal. */
const NAMED: ReadonlyMap<number, number> = new Map([
  [0x74, 0x09],
  [0x72, 0x0d],
  [0x6e, 0x0a],
  [0x62, 0x08],
]);

/**
 * The octets of a quoted string (without its quotes). An octal escape is a backslash and exactly three octal digits up to `\377`, so that
 * `\0014` is 0x01 and the digit 4; a hexadecimal one is `\x` and two digits. A malformed escape is kept as it stands.
 */
export function decodeString(bytes: Uint8Array, start: number, end: number): DecodedString {
  let plain = start;
  while (plain < end && bytes[plain] !== BACKSLASH) plain++;
  if (plain === end) return { octets: bytes.slice(start, end), malformed: false };
  const octets = new Uint8Array(end - start);
  let length = 0;
  let malformed = false;
  for (let at = start; at < end; ) {
    const octet = bytes[at] ?? 0;
    if (octet !== BACKSLASH) {
      octets[length++] = octet;
      at++;
      continue;
    }
    const { value, width } = escapeAt(bytes, at, end);
    if (value < 0) malformed = true;
    octets[length++] = value < 0 ? BACKSLASH : value;
    at += width;
  }
  return { octets: octets.slice(0, length), malformed };
}

function escapeAt(bytes: Uint8Array, at: number, end: number): { readonly value: number; readonly width: number } {
  const letter = at + 1 < end ? (bytes[at + 1] ?? 0) : -1;
  if (letter >= 0x30 && letter <= 0x39) {
    const value = at + 3 < end ? octal(letter, bytes[at + 2] ?? 0, bytes[at + 3] ?? 0) : -1;
    return { value, width: value < 0 ? 1 : 4 };
  }
  if (letter === 0x78) {
    const value = at + 3 < end ? hexDigit(bytes[at + 2] ?? 0) * 16 + hexDigit(bytes[at + 3] ?? 0) : -1;
    return { value: value < 0 ? -1 : value, width: value < 0 ? 1 : 4 };
  }
  if (letter < 0) return { value: -1, width: 1 };
  return { value: NAMED.get(letter) ?? letter, width: 2 };
}

function octal(a: number, b: number, c: number): number {
  if (a > 0x33 || b < 0x30 || b > 0x37 || c < 0x30 || c > 0x37) return -1;
  return (a - 0x30) * 64 + (b - 0x30) * 8 + (c - 0x30);
}

/** 0 to 15, or a number so negative that no sum with it is a value. */
function hexDigit(octet: number): number {
  if (octet >= 0x30 && octet <= 0x39) return octet - 0x30;
  const letter = octet | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1000;
}

/** Octets written as `0:0:5e:0:53:1`, one or two digits each; null for anything else. */
export function parseHexOctets(text: string): Uint8Array | null {
  if (!/^[0-9a-f]{1,2}(?::[0-9a-f]{1,2})*$/i.test(text)) return null;
  return Uint8Array.from(text.split(":"), (octet) => Number.parseInt(octet, 16));
}
