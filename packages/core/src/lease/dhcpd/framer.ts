import { declarationStartAt } from "./declaration-start.js";
import { BACKSLASH, CLOSE_BRACE, HASH, NEWLINE, OPEN_BRACE, QUOTE, SEMICOLON } from "./tokens.js";

/** The longest declaration that is read; dhcpd's own are below 1 KB, an IA with thousands of addresses below this. */
export const DECLARATION_BYTES_MAX = 1024 * 1024;

const IN_CODE = 0;
const IN_STRING = 1;
const IN_ESCAPE = 2;
const IN_COMMENT = 3;

/** How a declaration ends: by itself, because the next one begins (it is damaged), because it is too long; or it has not ended yet. */
export type FrameEnd = "whole" | "next-begins" | "too-long" | "open";

/** Bytes that mean something in code; the others are stepped over. */
const CODE_MARK = new Uint8Array(256);
for (const mark of [NEWLINE, QUOTE, HASH, OPEN_BRACE, CLOSE_BRACE, SEMICOLON]) CODE_MARK[mark] = 1;
const STRING_MARK = new Uint8Array(256);
for (const mark of [NEWLINE, QUOTE, BACKSLASH]) STRING_MARK[mark] = 1;

/**
 * Finds where a declaration ends without understanding it: strings, comments and braces only. Every byte is looked at once, whatever the
 * chunks: the state is kept between calls, and positions count from the declaration's first byte.
 */
export class Framer {
  /** Bytes of the declaration that are behind us. */
  scanned = 0;
  #depth = 0;
  #mode = IN_CODE;
  /** The byte at `scanned` begins a line that has not been judged yet. */
  #lineStart = false;

  begin(): void {
    this.scanned = 0;
    this.#depth = 0;
    this.#mode = IN_CODE;
    this.#lineStart = false;
  }

  /**
   * Goes on with the declaration that starts at `start`; its first {@link scanned} bytes are the same as before. After `whole` and
   * `too-long` it ends at `start + scanned`, after `next-begins` there too, where the next one begins.
   */
  scan(bytes: Uint8Array, start: number, end: number): FrameEnd {
    const limit = Math.min(end, start + DECLARATION_BYTES_MAX);
    let at = start + this.scanned;
    while (at < limit) {
      if (this.#lineStart) {
        const verdict = declarationStartAt(bytes, at, end);
        if (verdict !== "no") {
          this.scanned = at - start;
          return verdict === "yes" ? "next-begins" : "open";
        }
        this.#lineStart = false;
      }
      at = this.#step(bytes, at, limit);
      if (at < 0) {
        this.scanned = -at - start;
        return "whole";
      }
    }
    this.scanned = at - start;
    return limit < end || this.scanned >= DECLARATION_BYTES_MAX ? "too-long" : "open";
  }

  /** To behind the next byte that matters; negative when the declaration ends there. */
  #step(bytes: Uint8Array, from: number, limit: number): number {
    switch (this.#mode) {
      case IN_ESCAPE:
        this.#mode = IN_STRING;
        this.#lineStart = bytes[from] === NEWLINE;
        return from + 1;
      case IN_COMMENT:
        return this.#comment(bytes, from, limit);
      case IN_STRING:
        return this.#string(bytes, from, limit);
      default:
        return this.#code(bytes, from, limit);
    }
  }

  #comment(bytes: Uint8Array, from: number, limit: number): number {
    const line = bytes.indexOf(NEWLINE, from);
    if (line < 0 || line >= limit) return limit;
    this.#mode = IN_CODE;
    this.#lineStart = true;
    return line + 1;
  }

  #string(bytes: Uint8Array, from: number, limit: number): number {
    let at = from;
    while (at < limit && STRING_MARK[bytes[at] ?? 0] === 0) at++;
    if (at >= limit) return limit;
    const octet = bytes[at];
    if (octet === QUOTE) this.#mode = IN_CODE;
    else if (octet === BACKSLASH) this.#mode = IN_ESCAPE;
    else this.#lineStart = true;
    return at + 1;
  }

  #code(bytes: Uint8Array, from: number, limit: number): number {
    let at = from;
    while (at < limit && CODE_MARK[bytes[at] ?? 0] === 0) at++;
    if (at >= limit) return limit;
    const octet = bytes[at];
    at++;
    if (octet === NEWLINE) this.#lineStart = true;
    else if (octet === QUOTE) this.#mode = IN_STRING;
    else if (octet === HASH) this.#mode = IN_COMMENT;
    else if (octet === OPEN_BRACE) this.#depth++;
    else if (octet === CLOSE_BRACE) return --this.#depth <= 0 ? -at : at;
    else if (this.#depth === 0) return -at;
    return at;
  }
}
