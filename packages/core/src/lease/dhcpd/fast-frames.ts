import { Arena } from "../table/arena.js";
import type { Lease4Rows } from "../table/lease4-rows.js";
import { FastHeader } from "./fast-header.js";
import { FastStates, isUsual, USUAL_BITS, USUAL_LENGTH } from "./fast-states.js";
import { FastTime } from "./fast-time.js";
import { doublesOf, wordOf } from "./fast-words.js";
import { TIME_UNKNOWN } from "./time-value.js";

const D_STARTS = doublesOf("  starts")[0] ?? 0;
const W_ST = wordOf("  st");
const W_ARTS = wordOf("arts");
const W_EN = wordOf("  en");
const W_DS = wordOf("ds");
const W_CL = wordOf("  cl");
const W_TT = wordOf("tt");
const W_TS = wordOf("  ts");
const W_TP = wordOf("tp");
const W_FP = wordOf("fp");
const W_AT = wordOf("  at");
const W_SFP = wordOf("sfp");
const W_HA = wordOf("  ha");
const W_END = wordOf(";\n}\n");

/** Blocks looked at together: as many misses of the cache are waited for at once as the processor can have in flight. */
const BLOCKS = 32;

const STARTS = 0;
const ENDS = 1;
const TSTP = 2;
const TSFP = 3;
const ATSFP = 4;
const CLTT = 5;
const BITS = 6;
/** Words kept of one block, the first seven those of the record from WORD_STARTS on. */
export const FRAME_WORDS = 8;

/**
 * The first of two passes: finds the next few blocks, reads their times and states, and then loads their rows and texts, which lie scattered in main memory,
 * all at once. What lies between the states and the closing brace is not judged here.
 */
export class FastFrames {
  readonly words = new Int32Array(BLOCKS * FRAME_WORDS);
  /** Of each block: its address, and where it, its tail and its closing brace begin. */
  readonly addresses = new Int32Array(BLOCKS);
  readonly starts = new Int32Array(BLOCKS);
  readonly tails = new Int32Array(BLOCKS);
  readonly braces = new Int32Array(BLOCKS);
  /** Newlines before the tail. */
  readonly lines = new Int32Array(BLOCKS);
  /** The most blocks framed at a time: few where what is framed turns out to be of no use. */
  #most = 1;
  readonly #rows: Lease4Rows;
  readonly #header = new FastHeader();
  readonly #time = new FastTime();
  readonly #states = new FastStates();
  /** Of each block the place of its record, where a first look found it, else 0; good while the rows have counted this many moves. */
  readonly #places = new Int32Array(BLOCKS);
  #moves = -1;
  readonly #touched = new Int32Array(1);

  constructor(rows: Lease4Rows) {
    this.#rows = rows;
  }

  /** Frames blocks that begin before `stopAt` and are whole, with the newline behind them, before `end`; answers how many, 0 where none stands in dhcpd's own layout. */
  look(view: DataView, from: number, { end, stopAt }: { readonly end: number; readonly stopAt: number }): number {
    const most = this.#most;
    let at = from;
    let count = 0;
    for (; count < most && at < stopAt; count++) {
      const tail = this.head(view, at, count);
      if (tail < 0) break;
      const brace = braceBehind(view, tail);
      if (brace < 0 || brace + 1 >= end) break;
      this.braces[count] = brace;
      at = brace + 2;
    }
    if (count > 1) this.#touch(count);
    return count;
  }

  /** What became of the frames of the last {@link look}. */
  judge(allUsed: boolean): void {
    this.#most = allUsed ? Math.min(BLOCKS, this.#most * 2) : 1;
  }

  /** The place of the block's record; 0 for none. */
  placeOf(block: number): number {
    const found = this.#moves === this.#rows.moves ? (this.#places[block] ?? 0) : 0;
    return found === 0 ? this.#rows.placeOf(this.addresses[block] ?? 0) : found;
  }

  /** Reads the header, times and states of a block; answers where its tail begins, or -1. `block`: its number here. */
  head(view: DataView, start: number, block: number): number {
    const body = this.#header.read(view, start);
    if (body < 0) return -1;
    this.#moves = -1;
    this.addresses[block] = this.#header.address;
    this.starts[block] = start;
    const usual = this.#usual(view, body, block);
    const tail = usual < 0 ? this.#general(view, body, block) : usual;
    this.tails[block] = tail;
    return tail;
  }

  /** The body of a lease that was just given or renewed: three times, the last as the first, and three states, each in its place. Almost every block has it. */
  #usual(view: DataView, body: number, block: number): number {
    if (view.getFloat64(body, true) !== D_STARTS) return -1;
    if (view.getInt32(body + 32, true) !== W_EN || view.getInt16(body + 36, true) !== W_DS) return -1;
    if (view.getInt32(body + 62, true) !== W_CL || view.getInt16(body + 66, true) !== W_TT) return -1;
    if (view.getFloat64(body + 8, true) !== view.getFloat64(body + 68, true)) return -1;
    if (view.getFloat64(body + 16, true) !== view.getFloat64(body + 76, true)) return -1;
    if (view.getFloat64(body + 24, true) !== view.getFloat64(body + 84, true)) return -1;
    if (!isUsual(view, body + 92)) return -1;
    const time = this.#time;
    const starts = time.date(view, body + 8);
    const ends = time.date(view, body + 38);
    if (starts < 0 || ends < 0) return -1;
    const { words } = this;
    const at = block * FRAME_WORDS;
    words[at] = starts;
    words[at + 1] = ends;
    words[at + 2] = TIME_UNKNOWN;
    words[at + 3] = TIME_UNKNOWN;
    words[at + 4] = TIME_UNKNOWN;
    words[at + 5] = starts;
    words[at + 6] = USUAL_BITS;
    this.lines[block] = 7;
    return body + 92 + USUAL_LENGTH;
  }

  #general(view: DataView, body: number, block: number): number {
    const states = this.#times(view, body, block);
    if (states < 0) return -1;
    const tail = this.#states.read(view, states);
    this.words[block * FRAME_WORDS + BITS] = this.#states.bits;
    this.lines[block] = (this.lines[block] ?? 0) + this.#states.lines;
    return tail;
  }

  /** Reads lines of times; answers where another line begins, or -1 for a time that is not in this form or stands there twice. */
  #times(view: DataView, from: number, block: number): number {
    const { words } = this;
    const base = block * FRAME_WORDS;
    const time = this.#time;
    for (let column = STARTS; column <= CLTT; column++) words[base + column] = TIME_UNKNOWN;
    let lines = 1;
    let at = from;
    for (;;) {
      const word = view.getInt32(at, true);
      let column: number;
      let next = at + 6;
      if (word === W_ST && view.getInt32(at + 4, true) === W_ARTS) {
        column = STARTS;
        next = at + 8;
      } else if (word === W_EN && view.getInt16(at + 4, true) === W_DS) {
        column = ENDS;
      } else if (word === W_CL && view.getInt16(at + 4, true) === W_TT) {
        column = CLTT;
      } else if (word === W_TS && view.getInt16(at + 4, true) === W_TP) {
        column = TSTP;
      } else if (word === W_TS && view.getInt16(at + 4, true) === W_FP) {
        column = TSFP;
      } else if (word === W_AT && (view.getInt32(at + 4, true) & 0xffffff) === W_SFP) {
        column = ATSFP;
        next = at + 7;
      } else {
        this.lines[block] = lines;
        return at;
      }
      at = time.read(view, next);
      if (at < 0 || words[base + column] !== (TIME_UNKNOWN | 0)) return -1;
      words[base + column] = time.value;
      lines++;
    }
  }

  /** Short loops, so that the loads of one loop are under way together: of every block its slot, then the cache lines of its record. */
  #touch(count: number): void {
    const { slots, arena, moves } = this.#rows;
    const { addresses } = this;
    const places = this.#places;
    let sum = 0;
    for (let i = 0; i < count; i++) {
      const address = addresses[i] ?? 0;
      const slot = this.#rows.hash(address) * 2;
      places[i] = slots[slot] === address ? (slots[slot + 1] ?? 0) : 0;
    }
    for (let i = 0; i < count; i++) {
      const place = places[i] ?? 0;
      if (place === 0) continue;
      const record = arena.viewOf(place);
      const at = Arena.within(place);
      sum += record.getUint8(at) + record.getUint8(at + 64) + record.getUint8(at + 128) + record.getUint8(at + 192);
    }
    this.#touched[0] = sum;
    this.#moves = moves;
  }
}

/** The next `}` alone on its line behind a statement's end; -1 when there is none within a kilobyte: such a tail is left to the general reader. Sixteen bytes at a time: few have the upper bits of a brace. */
function braceBehind(view: DataView, tail: number): number {
  const limit = tail + 1024;
  // A line of an Ethernet address, 39 octets, needs no look. If it is none the brace found is a wrong one, which is noticed later.
  let at = view.getInt32(tail, true) === W_HA ? tail + 39 : tail;
  for (; at < limit; at += 16) {
    const a = (view.getInt32(at, true) & 0x7f7f7f7f) + 0x05050505;
    const b = (view.getInt32(at + 4, true) & 0x7f7f7f7f) + 0x05050505;
    const c = (view.getInt32(at + 8, true) & 0x7f7f7f7f) + 0x05050505;
    const d = (view.getInt32(at + 12, true) & 0x7f7f7f7f) + 0x05050505;
    if (((a | b | c | d) & 0x80808080) === 0) continue;
    for (let place = at, marks = a; place < at + 16; place += 4) {
      for (let left = marks & 0x80808080; left !== 0; left &= left - 1) {
        const brace = place + ((31 - Math.clz32(left & -left)) >> 3);
        if (view.getInt32(brace - 2, true) === W_END) return brace;
      }
      marks = place === at ? b : place === at + 4 ? c : d;
    }
  }
  return -1;
}
