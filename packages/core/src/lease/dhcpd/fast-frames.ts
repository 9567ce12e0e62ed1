import { Arena } from "../table/arena.js";
import { type Lease4Rows, ROW_WORDS } from "../table/lease4-rows.js";
import { FastHeader } from "./fast-header.js";
import { FastStates } from "./fast-states.js";
import { FastTime } from "./fast-time.js";
import { wordOf } from "./fast-words.js";
import { TIME_UNKNOWN } from "./time-value.js";

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
/** `  hardware ethernet 00:00:5e:00:53:01;` and its newline. */
const HARDWARE_LINE = 39;
const LOW_BITS = 0x7f7f7f7f;
const HIGH_BITS = 0x80808080 | 0;
const THREE_BYTES = 0xffffff;

/** Blocks looked at together: as many misses of the cache are waited for at once as the processor can have in flight. */
const BLOCKS = 16;
/** A longer tail is left to the general reader. */
const TAIL_WINDOW = 1024;
const LINE = 64;

/** Words of a frame: the first seven are the columns of the row from COLUMN_STARTS on. */
export const FRAME_WORDS = 16;
export const FRAME_BITS = 6;
export const FRAME_ADDRESS = 7;
export const FRAME_START = 8;
export const FRAME_TAIL = 9;
/** The closing brace. */
export const FRAME_BRACE = 10;
/** Newlines before the tail. */
export const FRAME_LINES = 11;
const STARTS = 0;
const ENDS = 1;
const TSTP = 2;
const TSFP = 3;
const ATSFP = 4;
const CLTT = 5;

/**
 * The first of two passes: finds the next few blocks, reads their times and states, and then loads their rows and texts, which lie scattered in main memory,
 * all at once. What lies between the states and the closing brace is not judged here.
 */
export class FastFrames {
  readonly frames = new Int32Array(BLOCKS * FRAME_WORDS);
  /** The most blocks framed at a time: few where what is framed turns out to be of no use. */
  #most = 1;
  readonly #rows: Lease4Rows;
  readonly #header = new FastHeader();
  readonly #time = new FastTime();
  readonly #states = new FastStates();
  readonly #slots = new Int32Array(BLOCKS);
  readonly #touched = new Int32Array(1);

  constructor(rows: Lease4Rows) {
    this.#rows = rows;
  }

  /** Frames blocks that begin before `stopAt` and are whole, with the newline behind them, before `end`; answers how many, 0 where none stands in dhcpd's own layout. */
  look(view: DataView, from: number, { end, stopAt }: { readonly end: number; readonly stopAt: number }): number {
    let at = from;
    let count = 0;
    while (count < this.#most && at < stopAt) {
      const base = count * FRAME_WORDS;
      const tail = this.head(view, at, base);
      if (tail < 0) break;
      const brace = braceBehind(view, tail);
      if (brace < 0 || brace + 1 >= end) break;
      this.frames[base + FRAME_BRACE] = brace;
      at = brace + 2;
      count++;
    }
    if (count > 1) this.#touch(count);
    return count;
  }

  /** What became of the frames of the last {@link look}. */
  judge(allUsed: boolean): void {
    this.#most = allUsed ? Math.min(BLOCKS, this.#most * 2) : 1;
  }

  /** Reads the header, times and states of one block into the frame at `base`; answers where its tail begins, or -1. */
  head(view: DataView, start: number, base: number): number {
    const frames = this.frames;
    const body = this.#header.read(view, start);
    if (body < 0) return -1;
    frames[base + FRAME_ADDRESS] = this.#header.address;
    frames[base + FRAME_START] = start;
    const states = this.#times(view, body, base);
    if (states < 0) return -1;
    const tail = this.#states.read(view, states);
    frames[base + FRAME_BITS] = this.#states.bits;
    frames[base + FRAME_LINES] = (frames[base + FRAME_LINES] ?? 0) + this.#states.lines;
    frames[base + FRAME_TAIL] = tail;
    return tail;
  }

  /** Reads lines of times; answers where another line begins, or -1 for a time that is not in this form or stands there twice. */
  #times(view: DataView, from: number, base: number): number {
    const frames = this.frames;
    const time = this.#time;
    for (let column = STARTS; column <= CLTT; column++) frames[base + column] = TIME_UNKNOWN;
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
      } else if (word === W_AT && (view.getInt32(at + 4, true) & THREE_BYTES) === W_SFP) {
        column = ATSFP;
        next = at + 7;
      } else {
        frames[base + FRAME_LINES] = lines;
        return at;
      }
      at = time.read(view, next);
      if (at < 0 || frames[base + column] !== (TIME_UNKNOWN | 0)) return -1;
      frames[base + column] = time.value;
      lines++;
    }
  }

  /** Short loops, so that the loads of one loop are under way together. */
  #touch(count: number): void {
    const { slots, rows, arena } = this.#rows;
    const frames = this.frames;
    let sum = 0;
    for (let i = 0; i < count; i++) {
      const slot = this.#rows.hash(frames[i * FRAME_WORDS + FRAME_ADDRESS] ?? 0) * 2;
      this.#slots[i] = slot;
      sum += slots[slot] ?? 0;
    }
    for (let i = 0; i < count; i++) {
      const slot = this.#slots[i] ?? 0;
      const row = slots[slot] ?? 0;
      if (row <= 0) continue;
      const offset = slots[slot + 1] ?? 0;
      const text = arena.viewOf(offset);
      const place = Arena.within(offset);
      sum += rows[(row - 1) * ROW_WORDS] ?? 0;
      sum += text.getUint8(place) + text.getUint8(place + LINE) + text.getUint8(place + 2 * LINE);
    }
    this.#touched[0] = sum;
  }
}

/** The next `}` alone on its line behind a statement's end; -1 when there is none near. Sixteen bytes at a time: few have the upper bits of a brace. */
function braceBehind(view: DataView, tail: number): number {
  const limit = tail + TAIL_WINDOW;
  // A line of an Ethernet address needs no look. If it is none the brace found is a wrong one, which is noticed later.
  let at = view.getInt32(tail, true) === W_HA ? tail + HARDWARE_LINE : tail;
  for (; at < limit; at += 16) {
    const a = (view.getInt32(at, true) & LOW_BITS) + 0x05050505;
    const b = (view.getInt32(at + 4, true) & LOW_BITS) + 0x05050505;
    const c = (view.getInt32(at + 8, true) & LOW_BITS) + 0x05050505;
    const d = (view.getInt32(at + 12, true) & LOW_BITS) + 0x05050505;
    if (((a | b | c | d) & HIGH_BITS) === 0) continue;
    for (let place = at, marks = a; place < at + 16; place += 4) {
      for (let left = marks & HIGH_BITS; left !== 0; left &= left - 1) {
        const brace = place + ((31 - Math.clz32(left & -left)) >> 3);
        if (view.getInt32(brace - 2, true) === W_END) return brace;
      }
      marks = place === at ? b : place === at + 4 ? c : d;
    }
  }
  return -1;
}
