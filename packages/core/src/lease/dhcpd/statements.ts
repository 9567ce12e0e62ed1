import { printableAscii } from "../diagnostics.js";
import type { BindingState, LeaseHardware, LeaseValue } from "../model.js";
import { BINDING_STATES } from "../model.js";
import { decodeUtf8 } from "../octets.js";
import { decodeString, parseHexOctets } from "./string-value.js";
import { parseTime, TIME_UNKNOWN } from "./time-value.js";
import {
  asciiText,
  CLOSE_BRACE,
  COMMA,
  EQUALS,
  type Lexer,
  OPEN_BRACE,
  SEMICOLON,
  TOKEN_END,
  TOKEN_STRING,
  TOKEN_WORD,
} from "./tokens.js";

/** Where the parser says what it could not use; `at` is a byte offset in the buffer that is being read. */
export interface Sink {
  report(code: string, at: number, message: string): void;
  /** An unknown word: told once, whatever the number of times. */
  unknown(code: string, word: string, at: number): void;
}

export const silentSink: Sink = { report: () => undefined, unknown: () => undefined };

/** The most words of one statement that are looked at; more is malformed. */
const WORDS_MAX = 64;

/** The statements of one block, one after the other. Every reader of a statement's value ends with its semicolon. */
export class Statements {
  readonly lexer: Lexer;
  readonly sink: Sink;
  /** The block's closing brace was reached. */
  closed = false;
  #pushedBack = false;

  constructor(lexer: Lexer, sink: Sink) {
    this.lexer = lexer;
    this.sink = sink;
  }

  /** The keyword of the next statement, or null at the end of the block or of the bytes. */
  next(): string | null {
    for (;;) {
      const kind = this.token();
      if (kind === TOKEN_END) return null;
      if (kind === CLOSE_BRACE) {
        this.closed = true;
        return null;
      }
      if (kind === TOKEN_WORD) return this.lexer.word();
      if (kind === SEMICOLON) continue;
      this.malformed(this.lexer.tokenStart, "a statement does not begin with a word");
      if (kind === OPEN_BRACE) this.#skipBlock();
      else this.skip();
    }
  }

  token(): number {
    if (this.#pushedBack) {
      this.#pushedBack = false;
      return this.lexer.kind;
    }
    return this.lexer.next();
  }

  /** The last token is read again by the next reader. */
  pushBack(): void {
    this.#pushedBack = true;
  }

  malformed(at: number, message: string): void {
    this.sink.report("statement-malformed", at, message);
  }

  /** The word after the keyword, in lower case; null (and nothing consumed) for anything else. */
  word(): string | null {
    if (this.token() === TOKEN_WORD) return this.lexer.word();
    this.#pushedBack = true;
    return null;
  }

  /**
   * The end of the statement. False when its value must not be used: the bytes end before the semicolon, or more than the value stands there.
   * A closing brace in the semicolon's place is complained about, but what stands before it is whole.
   */
  end(): boolean {
    const kind = this.token();
    if (kind === SEMICOLON) return true;
    const at = this.lexer.tokenStart;
    this.#pushedBack = true;
    if (kind === TOKEN_END) return false;
    this.malformed(at, "semicolon expected");
    if (kind === CLOSE_BRACE) return true;
    this.skip();
    return false;
  }

  /** To the end of the statement, or of the block that it opens. */
  skip(): void {
    for (;;) {
      const kind = this.token();
      if (kind === SEMICOLON) return;
      if (kind === OPEN_BRACE) {
        this.#skipBlock();
        return;
      }
      if (kind === TOKEN_END || kind === CLOSE_BRACE) {
        this.#pushedBack = true;
        return;
      }
    }
  }

  #skipBlock(): void {
    for (let depth = 1; depth > 0; ) {
      const kind = this.token();
      if (kind === OPEN_BRACE) depth++;
      else if (kind === CLOSE_BRACE) depth--;
      else if (kind === TOKEN_END) {
        this.#pushedBack = true;
        return;
      }
    }
  }

  /** All words up to the end of the statement joined by `glue`, lower case; null when it is not made of words or not whole. */
  words(glue: string): string | null {
    const parts: string[] = [];
    while (parts.length <= WORDS_MAX) {
      const word = this.word();
      if (word === null) break;
      parts.push(word);
    }
    return this.end() && parts.length <= WORDS_MAX ? parts.join(glue) : null;
  }

  time(): number {
    const at = this.lexer.tokenStart;
    const text = this.words(" ");
    const time = text === null ? TIME_UNKNOWN : parseTime(text);
    if (time === TIME_UNKNOWN && text !== null) this.sink.report("time-malformed", at, `not a time: ${printableAscii(text)}`);
    return time;
  }

  number(): number | null {
    const at = this.lexer.tokenStart;
    const text = this.words(" ");
    if (text === null) return null;
    if (/^\d{1,10}$/.test(text)) return Number(text);
    this.malformed(at, `not a number: ${printableAscii(text)}`);
    return null;
  }

  /** `other`: what a word is that is no state of its own. */
  state(other: (word: string) => BindingState | null = () => null): BindingState | "unknown" | null {
    const at = this.lexer.tokenStart;
    const word = this.words(" ");
    if (word === null) return null;
    const state = BINDING_STATES.find((known) => known === word) ?? other(word) ?? undefined;
    if (state === undefined) this.sink.report("state-unknown", at, `not a binding state: ${printableAscii(word)}`);
    return state ?? "unknown";
  }

  hardware(): LeaseHardware | null {
    const at = this.lexer.tokenStart;
    const type = this.word();
    const text = this.words("");
    if (type === null || text === null) return null;
    const octets = parseHexOctets(text);
    if (octets !== null && octets.length <= 20) return { type, octets };
    this.sink.report("hardware-malformed", at, `not a hardware address: ${printableAscii(`${type} ${text}`)}`);
    return null;
  }

  /** A string or a list of hexadecimal octets: the two forms of `lease-id-format`. Empty and malformed are null. */
  identifier(): Uint8Array | null {
    const at = this.lexer.tokenStart;
    const octets = this.token() === TOKEN_STRING ? this.#stringEnd("id-malformed", at) : this.#hexEnd(at);
    return octets === null || octets.length === 0 ? null : octets;
  }

  /** The same before an opening brace, which is left for the caller. */
  blockKey(): Uint8Array | null {
    if (this.token() === TOKEN_STRING) {
      const { octets, malformed } = decodeString(this.lexer.bytes, this.lexer.tokenStart, this.lexer.tokenEnd);
      return malformed || this.lexer.unterminated ? null : octets;
    }
    this.#pushedBack = true;
    let text = "";
    for (let word = this.word(); word !== null && text.length < 4096; word = this.word()) text += word;
    return parseHexOctets(text);
  }

  #hexEnd(at: number): Uint8Array | null {
    this.#pushedBack = true;
    const text = this.words("");
    if (text === null) return null;
    const octets = parseHexOctets(text);
    if (octets === null) this.sink.report("id-malformed", at, `not an identifier: ${printableAscii(text)}`);
    return octets;
  }

  #stringEnd(code: string, at: number): Uint8Array | null {
    const { bytes, tokenStart, tokenEnd, unterminated } = this.lexer;
    const { octets, malformed } = decodeString(bytes, tokenStart, tokenEnd);
    if (!this.end() || unterminated) return null;
    if (!malformed) return octets;
    this.sink.report(code, at, "a string has an escape that dhcpd does not write");
    return null;
  }

  /** A string; one with a malformed escape is kept as it stands, for it is only text for people. */
  string(): Uint8Array | null {
    const at = this.lexer.tokenStart;
    if (this.token() !== TOKEN_STRING) {
      this.#pushedBack = true;
      const word = this.words(" ");
      if (word !== null) this.malformed(at, "string expected");
      return null;
    }
    const { bytes, tokenStart, tokenEnd, unterminated } = this.lexer;
    const { octets, malformed } = decodeString(bytes, tokenStart, tokenEnd);
    if (!this.end() || unterminated) return null;
    if (malformed) this.sink.report("escape-malformed", at, "a string has an escape that dhcpd does not write");
    return octets;
  }

  /** The value of `set NAME = VALUE` or of an option: a string, a number, a list of octets, else its text. */
  value(): LeaseValue | null {
    const first = this.token();
    if (first === EQUALS) return this.value();
    if (first === TOKEN_STRING) {
      const { bytes, tokenStart, tokenEnd, unterminated } = this.lexer;
      const next = this.token();
      this.#pushedBack = true;
      if (next === SEMICOLON || next === CLOSE_BRACE) {
        return this.end() && !unterminated ? textOrOctets(decodeString(bytes, tokenStart, tokenEnd).octets) : null;
      }
      return this.#rest(`"${asciiText(bytes, tokenStart, tokenEnd)}"`);
    }
    this.#pushedBack = true;
    return this.#rest("");
  }

  #rest(begin: string): LeaseValue | null {
    let text = begin;
    for (let parts = 0; ; parts++) {
      const kind = this.token();
      if (kind === TOKEN_END || kind === SEMICOLON || kind === CLOSE_BRACE || kind === OPEN_BRACE || parts > WORDS_MAX) break;
      const part = kind === TOKEN_STRING ? `"${this.lexer.text()}"` : this.lexer.text();
      text += text === "" || kind === COMMA ? part : ` ${part}`;
    }
    this.#pushedBack = true;
    return this.end() && text !== "" ? plainValue(text) : null;
  }
}

function plainValue(text: string): LeaseValue {
  const number = /^%?(-?\d{1,15})$/.exec(text);
  if (number !== null) return Number(number[1]);
  if (text === "true" || text === "false") return text === "true";
  return text.includes(":") ? (parseHexOctets(text.replaceAll(" ", "")) ?? printable(text)) : printable(text);
}

function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, "?");
}

/** Text when it is UTF-8 without control characters, else the octets. */
export function textOrOctets(octets: Uint8Array): string | Uint8Array {
  const text = decodeUtf8(octets);

  return text === null || /[\u0000-\u001f\u007f-\u009f]/.test(text) ? octets : text;
}
