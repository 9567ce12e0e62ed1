import { Diagnostics, printableAscii } from "../diagnostics.js";
import type { LeaseDiagnostic } from "../model.js";
import { assert } from "../../problem.js";
import type { LeaseReader } from "../reader.js";
import { DhcpdTable } from "../table/dhcpd-table.js";
import { Declarations } from "./declarations.js";
import { declarationStartAt } from "./declaration-start.js";
import { FAST_SPAN, FastLease4 } from "./fast-lease4.js";
import { DECLARATION_BYTES_MAX, Framer } from "./framer.js";
import type { Sink } from "./statements.js";
import { HASH, isBlank, NEWLINE } from "./tokens.js";

/** Bytes of the next chunk that are put behind an unfinished declaration at first; doubled while that is not enough. */
const FIRST_PIECE = 4096;
const BOM = [0xef, 0xbb, 0xbf];

export interface LeaseReaderOptions {
  /** Without it every block goes through the general reader: the result is the same, which tests prove. */
  readonly fastPath?: boolean;
}

/** Reads a leases file of ISC dhcpd (dhcpd.leases(5)), IPv4 or IPv6. */
export function createLeaseReader(options: LeaseReaderOptions = {}): LeaseReader {
  return new DhcpdReader(options.fastPath ?? true);
}

class DhcpdReader implements LeaseReader, Sink {
  readonly table = new DhcpdTable();
  offset = 0;
  readonly #diagnostics = new Diagnostics();
  readonly #declarations = new Declarations(this.table, this);
  readonly #fast: FastLease4 | null;
  readonly #framer = new Framer();
  /** Bytes that wait for more: an unfinished declaration, or the first bytes of a byte order mark. */
  #carry = new Uint8Array(FIRST_PIECE + FAST_SPAN);
  #carried = 0;
  /** A declaration has begun, at the first carried byte. */
  #open = false;
  #inComment = false;
  /** After a declaration that was too long: to the next line that begins one. */
  #resyncing = false;
  #lineBegins = false;
  #begun = false;
  #nulsTold = false;
  #ended = false;
  #skippedTooLong = 0;
  /** Line number at the byte that is looked at, from 1; and the buffer and place that it belongs to while a declaration is read. */
  #line = 1;
  #bytes: Uint8Array = this.#carry;
  #lineAt = 0;

  constructor(fastPath: boolean) {
    this.#fast = fastPath ? new FastLease4(this.table.rows4) : null;
  }

  get pendingTail(): boolean {
    return this.#open;
  }

  get skippedDeclarations(): number {
    return this.#declarations.skipped + this.#skippedTooLong;
  }

  diagnostics(): readonly LeaseDiagnostic[] {
    return this.#diagnostics.all();
  }

  report(code: string, at: number, message: string): void {
    this.#diagnostics.add(code, () => this.#lineOf(at), message);
  }

  unknown(code: string, word: string, at: number): void {
    const shown = printableAscii(word);
    this.#diagnostics.addKind(code, shown, () => this.#lineOf(at), `'${shown}' is not known here: skipped`);
  }

  push(chunk: Uint8Array): void {
    assert(!this.#ended, "bytes after the end of a leases file");
    this.offset += chunk.length;
    let at = this.#carried > 0 ? this.#finishCarried(chunk) : 0;
    // The last few bytes are read from our own buffer, which has room behind them: the fast path loads words without looking where the end is.
    const stopAt = chunk.length - FAST_SPAN;
    if (at < stopAt) at = this.#run(chunk, at, { end: chunk.length, stopAt });
    if (at >= chunk.length) return;
    this.#append(chunk, at, chunk.length);
    this.#keep(this.#run(this.#carry, 0, { end: this.#carried, stopAt: this.#carried }));
  }

  /** Drops the carried bytes before this place. */
  #keep(from: number): void {
    this.#carry.copyWithin(0, from, this.#carried);
    this.#carried -= from;
  }

  finish(final: boolean): void {
    if (!final || this.#ended) return;
    this.#ended = true;
    if (this.#open) this.#read(this.#carry, 0, { end: this.#carried, damaged: false, final: true });
    this.#open = false;
    this.#carried = 0;
  }

  /** Puts as much of the chunk behind the carried bytes as ends their declaration; answers where the chunk goes on. */
  #finishCarried(chunk: Uint8Array): number {
    for (let taken = 0, piece = FIRST_PIECE; taken < chunk.length; piece *= 2) {
      const before = this.#carried;
      const next = Math.min(chunk.length, taken + piece);
      this.#append(chunk, taken, next);
      const at = this.#run(this.#carry, 0, { end: this.#carried, stopAt: before });
      if (at >= before) {
        this.#carried = 0;
        return taken + at - before;
      }
      this.#keep(at);
      taken = next;
    }
    return chunk.length;
  }

  #append(source: Uint8Array, start: number, end: number): void {
    const needed = this.#carried + end - start;
    if (needed + FAST_SPAN > this.#carry.length) {
      const grown = new Uint8Array(Math.max(needed + FAST_SPAN, this.#carry.length * 2));
      grown.set(this.#carry.subarray(0, this.#carried));
      this.#carry = grown;
    }
    this.#carry.set(source.subarray(start, end), this.#carried);
    this.#carried = needed;
  }

  /** Reads declarations from `from` until one ends at or behind `stopAt`, or the bytes run out; answers the first byte that must be kept. */
  #run(bytes: Uint8Array, from: number, { end, stopAt }: { readonly end: number; readonly stopAt: number }): number {
    this.#fast?.use(bytes);
    let at = from;
    while (at < stopAt) {
      if (!this.#open) {
        at = this.#resyncing ? this.#resync(bytes, at, end) : this.#blanks(bytes, at, end);
        // What lies between declarations may have led behind `stopAt`, where there is too little behind a block for the fast path.
        if (at >= stopAt || this.#resyncing || this.#waitsForMark(bytes, at, end)) return at;
        const next = this.#fast?.blocks(at, { end, stopAt }) ?? at;
        if (next > at) {
          this.#line += this.#fast?.lines ?? 0;
          this.table.family ??= 4;
          at = next;
          continue;
        }
        this.#framer.begin();
        this.#open = true;
      }
      const frameEnd = this.#framer.scan(bytes, at, end);
      if (frameEnd === "open") return at;
      this.#open = false;
      const stop = at + this.#framer.scanned;
      if (frameEnd === "too-long") this.#skipTooLong(bytes, at, stop);
      else this.#read(bytes, at, { end: stop, damaged: frameEnd === "next-begins", final: false });
      at = stop;
    }
    return at;
  }

  #read(bytes: Uint8Array, start: number, { end, damaged, final }: { end: number; damaged: boolean; final: boolean }): void {
    this.#fast?.use(bytes);
    // A block that came in pieces takes the fast path too, so that what is kept of it does not depend on the pieces.
    if (!damaged && !final && this.#fast?.block(start, end) === true) {
      this.table.family ??= 4;
    } else {
      this.#bytes = bytes;
      this.#lineAt = start;
      this.#declarations.read({ bytes, start, end, damaged, final });
    }
    this.#line += newlines(bytes, start, end);
  }

  #skipTooLong(bytes: Uint8Array, start: number, end: number): void {
    this.#bytes = bytes;
    this.#lineAt = start;
    this.report("declaration-too-long", start, `a declaration of more than ${DECLARATION_BYTES_MAX} bytes: skipped`);
    this.#skippedTooLong++;
    this.#line += newlines(bytes, start, end);
    this.#resyncing = true;
    this.#lineBegins = bytes[end - 1] === NEWLINE;
  }

  /** Over blanks and comments between declarations. */
  #blanks(bytes: Uint8Array, from: number, end: number): number {
    let at = from;
    for (; at < end; at++) {
      const octet = bytes[at] ?? 0;
      if (this.#inComment ? octet === NEWLINE : isBlank(octet)) {
        this.#inComment = false;
        this.#begun = true;
        if (octet === NEWLINE) this.#line++;
        else if (octet === 0) this.#nulBetween();
      } else if (octet === HASH || this.#inComment) {
        this.#inComment = true;
        const line = bytes.indexOf(NEWLINE, at);
        if (line < 0 || line >= end) return this.#begin(end);
        at = line - 1;
      } else {
        return this.#begun ? at : this.#mark(bytes, at, end);
      }
    }
    return this.#begin(at);
  }

  #begin(at: number): number {
    this.#begun = true;
    return at;
  }

  /** Behind a byte order mark at the very start; at its first byte while it is not whole. */
  #mark(bytes: Uint8Array, at: number, end: number): number {
    if (this.#waitsForMark(bytes, at, end)) return at;
    this.#begun = true;
    const marked = BOM.every((octet, i) => bytes[at + i] === octet);
    return marked ? this.#blanks(bytes, at + BOM.length, end) : at;
  }

  #waitsForMark(bytes: Uint8Array, at: number, end: number): boolean {
    if (this.#begun || end - at >= BOM.length) return false;
    return bytes.subarray(at, end).every((octet, i) => octet === BOM[i]);
  }

  /** Called for each octet of what may be gigabytes: told once. */
  #nulBetween(): void {
    if (this.#nulsTold) return;
    this.#nulsTold = true;
    const line = this.#line;
    this.#diagnostics.addKind("nul-bytes", "between declarations", () => line, "NUL bytes between declarations: read as blanks");
  }

  /** To the next line that begins a declaration, counting lines; stays at a line that is too short to tell. */
  #resync(bytes: Uint8Array, from: number, end: number): number {
    let at = from;
    for (;;) {
      if (this.#lineBegins) {
        const verdict = declarationStartAt(bytes, at, end);
        this.#resyncing = verdict !== "yes";
        if (verdict !== "no") return at;
      }
      const line = bytes.indexOf(NEWLINE, at);
      this.#lineBegins = line >= 0 && line < end;
      if (!this.#lineBegins) return end;
      this.#line++;
      at = line + 1;
    }
  }

  #lineOf(at: number): number {
    return this.#line + newlines(this.#bytes, this.#lineAt, at);
  }
}

function newlines(bytes: Uint8Array, start: number, end: number): number {
  let count = 0;
  for (let at = start; at < end; at++) if (bytes[at] === NEWLINE) count++;
  return count;
}
