/** Kinds of tokens; punctuation is its own character code. */
export const TOKEN_END = 0;
export const TOKEN_WORD = 1;
export const TOKEN_STRING = 2;
export const SEMICOLON = 0x3b;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;
export const COMMA = 0x2c;
export const EQUALS = 0x3d;
export const QUOTE = 0x22;
export const BACKSLASH = 0x5c;
export const HASH = 0x23;
export const NEWLINE = 0x0a;

/** What each byte is to the lexer: 0 part of a word, 1 blank (NUL too: a torn page is full of them), 2 anything that ends a word. */
const CLASS = new Uint8Array(256);
for (const blank of [0x00, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x20]) CLASS[blank] = 1;
for (const mark of [SEMICOLON, OPEN_BRACE, CLOSE_BRACE, COMMA, EQUALS, QUOTE, HASH]) CLASS[mark] = 2;

export function isBlank(octet: number): boolean {
  return CLASS[octet] === 1;
}

/** Words, strings and marks of one declaration, in the manner of dhcpd's own free-form lexer. Allocates nothing. */
export class Lexer {
  readonly bytes: Uint8Array;
  readonly end: number;
  /** The token: its kind and, without quotes, its place. */
  kind: number = TOKEN_END;
  tokenStart = 0;
  tokenEnd = 0;
  /** A string whose closing quote never came. */
  unterminated = false;
  #at: number;
  /** Strings end with the line too: dhcpd never writes a newline into one, so in a damaged declaration that is where the damage stops. */
  readonly #stringsEndWithLine: boolean;

  constructor(bytes: Uint8Array, start: number, end: number, stringsEndWithLine = false) {
    this.bytes = bytes;
    this.end = end;
    this.#at = start;
    this.tokenStart = start;
    this.#stringsEndWithLine = stringsEndWithLine;
  }

  next(): number {
    const { bytes, end } = this;
    let at = this.#at;
    for (; at < end; at++) {
      const octet = bytes[at] ?? 0;
      if (octet === HASH) {
        const line = bytes.indexOf(NEWLINE, at);
        at = line < 0 || line >= end ? end - 1 : line;
      } else if (CLASS[octet] !== 1) {
        break;
      }
    }
    this.tokenStart = at;
    if (at >= end) {
      this.tokenEnd = end;
      this.#at = end;
      return (this.kind = TOKEN_END);
    }
    const octet = bytes[at] ?? 0;
    if (octet === QUOTE) return this.#string(at + 1);
    if (CLASS[octet] === 2) {
      this.tokenEnd = this.#at = at + 1;
      return (this.kind = octet);
    }
    while (at < end && CLASS[bytes[at] ?? 0] === 0) at++;
    this.tokenEnd = this.#at = at;
    return (this.kind = TOKEN_WORD);
  }

  #string(start: number): number {
    const { bytes, end } = this;
    let at = start;
    for (; at < end; at++) {
      const octet = bytes[at];
      if (octet === QUOTE || (this.#stringsEndWithLine && octet === NEWLINE)) break;
      if (octet === BACKSLASH) at++;
    }
    if (at > end) at = end;
    this.unterminated = at >= end || bytes[at] !== QUOTE;
    this.tokenStart = start;
    this.tokenEnd = at;
    this.#at = Math.min(end, at + 1);
    return (this.kind = TOKEN_STRING);
  }

  /** The token as text, byte for character. Only for short tokens. */
  text(): string {
    return asciiText(this.bytes, this.tokenStart, this.tokenEnd);
  }

  /** The token as a lower-case keyword. */
  word(): string {
    return asciiText(this.bytes, this.tokenStart, Math.min(this.tokenEnd, this.tokenStart + 64)).toLowerCase();
  }
}

export function asciiText(bytes: Uint8Array, start: number, end: number): string {
  if (end - start > 4096) return asciiText(bytes, start, start + 4096);
  return String.fromCharCode(...bytes.subarray(start, end));
}
