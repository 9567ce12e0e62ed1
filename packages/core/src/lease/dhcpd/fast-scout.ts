import { Arena } from "../table/arena.js";
import { type Lease4Rows, ROW_WORDS } from "../table/lease4-rows.js";
import { wordOf } from "./fast-words.js";

const W_LEAS = wordOf("leas");
const W_E_BLANK = wordOf("e ");
const W_OPEN = wordOf(" {\n");
const W_END = wordOf(";\n}\n");
const THREE_BYTES = 0xffffff;
/** Blocks looked ahead for at a time: as many misses of the cache are waited for at once as the processor can have in flight. */
const BLOCKS = 16;
/** The end of a block is looked for from this much before the length of the one before it: most are alike, and a shorter one is only missed. */
const SHORTER = 48;
/** The length that is expected first: times and states and little else. */
const SKIP = 150;
const WINDOW = 1024;

/** Bytes that may be one of the four at a block's end. */
const END_BYTE = new Uint8Array(256);
END_BYTE[0x3b] = END_BYTE[0x0a] = END_BYTE[0x7d] = 1;

/**
 * Runs ahead of the reader of blocks: finds where the next few begin and loads their rows and texts, which lie scattered in main memory, all at once. What it finds is
 * a hint: a header that it read is right, a block that it missed is read without it.
 */
export class FastScout {
  /** The address in the header read last by {@link header} or found by {@link recall}. */
  address = 0;
  readonly #rows: Lease4Rows;
  readonly #starts = new Int32Array(BLOCKS);
  readonly #bodies = new Int32Array(BLOCKS);
  readonly #addresses = new Int32Array(BLOCKS);
  readonly #slots = new Int32Array(BLOCKS);
  readonly #touched = new Float64Array(1);
  #count = 0;
  #next = 0;
  /** Nothing before this place needs scouting. */
  #until = -1;

  constructor(rows: Lease4Rows) {
    this.#rows = rows;
  }

  /** The buffer changed. */
  forget(): void {
    this.#count = this.#next = 0;
    this.#until = -1;
  }

  /** Where the first line of the block at `start` begins, its address in {@link address}; -1 where no block begins in dhcpd's own layout. */
  begin(view: DataView, start: number, end: number): number {
    if (start >= this.#until) this.#look(view, start, end);
    while (this.#next < this.#count && (this.#starts[this.#next] ?? 0) < start) this.#next++;
    if (this.#next < this.#count && this.#starts[this.#next] === start) {
      this.address = this.#addresses[this.#next] ?? 0;
      return this.#bodies[this.#next++] ?? -1;
    }
    return this.header(view, start);
  }

  #look(view: DataView, from: number, end: number): void {
    let at = from;
    let count = 0;
    let length = 0;
    // A block's end is looked for only as far as the bytes reach; the header behind it may be stale, and then is not asked for.
    const limit = Math.min(end, view.byteLength - WINDOW) - SKIP;
    while (count < BLOCKS && at < limit) {
      const body = this.header(view, at);
      if (body < 0) break;
      this.#starts[count] = at;
      this.#bodies[count] = body;
      this.#addresses[count++] = this.address;
      const next = nextBlock(view, at + Math.max(SKIP, length - SHORTER), at + WINDOW);
      length = next - at;
      at = next;
    }
    this.#until = Math.max(at, from + 1);
    this.#count = count;
    this.#next = 0;
    if (count > 1) this.#touch(count);
  }

  /** Three short loops, so that the loads of one loop are under way together. */
  #touch(count: number): void {
    const { slots, rows, arena } = this.#rows;
    let sum = 0;
    for (let i = 0; i < count; i++) {
      const slot = this.#rows.hash(this.#addresses[i] ?? 0);
      this.#slots[i] = slot;
      sum += slots[slot * 2] ?? 0;
    }
    for (let i = 0; i < count; i++) {
      const slot = (this.#slots[i] ?? 0) * 2;
      const row = slots[slot] ?? 0;
      const offset = slots[slot + 1] ?? 0;
      if (row > 0) sum += (rows[(row - 1) * ROW_WORDS] ?? 0) + arena.viewOf(offset).getInt32(Arena.within(offset), true);
    }
    this.#touched[0] = sum;
  }

  /** `lease A.B.C.D {`: answers where the next line begins. */
  header(view: DataView, start: number): number {
    if (view.getInt32(start, true) !== W_LEAS || view.getInt16(start + 4, true) !== W_E_BLANK) return -1;
    let at = start + 6;
    let address = 0;
    for (let octet = 0; octet < 4; octet++) {
      let value = view.getUint8(at) - 0x30;
      if (value < 0 || value > 9) return -1;
      let digit = view.getUint8(++at) - 0x30;
      if (digit >= 0 && digit <= 9) {
        value = value * 10 + digit;
        digit = view.getUint8(++at) - 0x30;
        if (digit >= 0 && digit <= 9) {
          value = value * 10 + digit;
          at++;
        }
      }
      if (value > 255) return -1;
      address = (address << 8) | value;
      if (octet < 3 && view.getUint8(at++) !== 0x2e) return -1;
    }
    this.address = address;
    return (view.getInt32(at, true) & THREE_BYTES) === W_OPEN ? at + 3 : -1;
  }
}

/** Behind the next `;`, newline, `}`, newline; `limit` when there is none before it. One byte of four is enough to see one of the four. */
function nextBlock(view: DataView, from: number, limit: number): number {
  for (let at = from; at < limit; at += 4) {
    if (END_BYTE[view.getUint8(at)] !== 1) continue;
    for (let begin = at - 3; begin <= at; begin++) if (view.getInt32(begin, true) === W_END) return begin + 4;
  }
  return limit;
}
