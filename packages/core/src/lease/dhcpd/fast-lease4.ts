import {
  BITS_BOOTP,
  BITS_NEXT_SHIFT,
  BITS_RESERVED,
  BITS_REWIND_SHIFT,
  BITS_WHOLE_BODY,
  COLUMN_BITS,
  COLUMN_LENGTH,
  COLUMN_OFFSET,
  type Lease4Rows,
  ROW_WORDS,
  stateBits,
} from "../table/lease4-rows.js";
import { Arena } from "../table/arena.js";
import { FastScout } from "./fast-scout.js";
import { FastTail } from "./fast-tail.js";
import { FastTime } from "./fast-time.js";
import { doublesOf, wordOf } from "./fast-words.js";
import { CLOSE_BRACE, NEWLINE } from "./tokens.js";
import { TIME_UNKNOWN } from "./time-value.js";

/** Bytes that must lie behind the start of a block in its buffer: loads are not checked against the end of what was read. */
export const FAST_SPAN = 4096;
/** A longer block is left to the general reader, wherever it lies. */
const BLOCK_MAX = 3840;

const W_ST = wordOf("  st");
const W_ARTS = wordOf("arts");
const W_EN = wordOf("  en");
const W_DS_BLANK = wordOf("ds ");
const W_CL = wordOf("  cl");
const W_TT_BLANK = wordOf("tt ");
const W_TS = wordOf("  ts");
const W_TP_BLANK = wordOf("tp ");
const W_FP_BLANK = wordOf("fp ");
const W_AT = wordOf("  at");
const W_SFP_BLANK = wordOf("sfp ");
const W_BI = wordOf("  bi");
const W_NE = wordOf("  ne");
const W_RE = wordOf("  re");
const W_BO = wordOf("  bo");
const W_NDIN = wordOf("ndin");
const W_G_ST = wordOf("g st");
const W_ATE = wordOf("ate ");
const W_XT_B = wordOf("xt b");
const W_WIND = wordOf("wind");
const W_BLANK_B = wordOf(" b");
const W_INDI = wordOf("indi");
const W_NG_S = wordOf("ng s");
const W_TATE = wordOf("tate");
const W_SERV = wordOf("serv");
const W_ED = wordOf("ed;\n");
const W_OTP = wordOf("otp;");

const W_ACTI = wordOf("acti");
const W_VE = wordOf("ve;\n");
const W_FREE = wordOf("free");
const W_END = wordOf(";\n");
const W_EXPI = wordOf("expi");
const W_RED = wordOf("red;");
const W_RELE = wordOf("rele");
const W_ASED = wordOf("ased");
const W_ABAN = wordOf("aban");
const W_DONE = wordOf("done");
const W_D_END = wordOf("d;\n");
const W_RESE = wordOf("rese");
const W_T_END = wordOf("t;\n");
const W_BACK = wordOf("back");
const W_UP_END = wordOf("up;\n");
const ACTIVE = stateBits("active");
const FREE = stateBits("free");

/** The three lines that almost every block of a server without failover has, compared eight bytes at a time. */
const USUAL_STATES = doublesOf("  binding state active;\n  next binding state free;\n  rewind binding state free;\n");
const USUAL_BITS = ACTIVE | (FREE << BITS_NEXT_SHIFT) | (FREE << BITS_REWIND_SHIFT);

const THREE_BYTES = 0xffffff;
/** Bits of `#seen` for the three kinds of state lines. */
const ALL_STATES = 7 << 8;
const COLUMNS = 7;
/** Columns of `#columns`, one less than in the row. */
const STARTS = 0;
const ENDS = 1;
const TSTP = 2;
const TSFP = 3;
const ATSFP = 4;
const CLTT = 5;
const BITS = 6;
/** Lines of the kept text, in the upper half of the bits. */
const TAIL_LINES_SHIFT = 16;
const TAIL_LINES_MAX = 255;

/**
 * Reads `lease` blocks in exactly the layout in which dhcpd writes them, a line at a time by its known width, and nothing else: whatever differs by one byte is left
 * to the general reader, with the same result. Writes straight into the table's rows; a renewal that only moves times touches nothing else.
 */
export class FastLease4 {
  /** Newlines in the last block read. */
  lines = 0;
  readonly #rows: Lease4Rows;
  readonly #scout: FastScout;
  readonly #time = new FastTime();
  readonly #tail = new FastTail();
  readonly #columns = new Int32Array(COLUMNS);
  #view: DataView = new DataView(new ArrayBuffer(0));
  #bytes: Uint8Array = new Uint8Array();
  #seen = 0;
  constructor(rows: Lease4Rows) {
    this.#rows = rows;
    this.#scout = new FastScout(rows);
  }

  /** The buffer that blocks are read from until the next call. */
  use(bytes: Uint8Array): void {
    this.#scout.forget();
    if (this.#bytes === bytes) return;
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /**
   * Reads the block at `start` if it is whole before `end`; answers where the next thing begins, or -1 with nothing changed. At least
   * {@link FAST_SPAN} bytes must lie behind `start` in the buffer.
   */
  block(start: number, end: number): number {
    const view = this.#view;
    const at = this.#scout.begin(view, start, end);
    if (at < 0) return -1;
    const { address } = this.#scout;
    const row = this.#rows.find(address);
    const tailStart = this.#lines(view, at);
    if (tailStart - start > BLOCK_MAX) return -1;
    const limit = start + BLOCK_MAX;
    let brace = row < 0 ? -1 : tailStart + this.#keptLength(row);
    const keptLines = brace < 0 || brace >= limit ? -1 : this.#keptTail(row, tailStart);
    if (keptLines < 0) brace = this.#tail.check(view, tailStart, limit);
    const tailLines = keptLines < 0 ? this.#tail.lines : keptLines;
    if (brace < 0 || brace >= end || tailLines > TAIL_LINES_MAX) return -1;
    this.#columns[BITS] = (this.#columns[BITS] ?? 0) | (tailLines << TAIL_LINES_SHIFT);
    this.#store(row < 0 ? this.#rows.findOrAdd(address) : row, tailStart, keptLines < 0 ? brace : -1);
    const newline = brace + 1 < end && view.getUint8(brace + 1) === NEWLINE ? 1 : 0;
    this.lines += tailLines + newline;
    return brace + 1 + newline;
  }

  /** Reads lines of times, states and flags into the columns; answers where another line begins. */
  #lines(view: DataView, from: number): number {
    const columns = this.#columns;
    for (let i = 0; i < BITS; i++) columns[i] = TIME_UNKNOWN;
    columns[BITS] = 0;
    this.#seen = 0;
    this.lines = 1;
    let at = from;
    for (let next = this.#line(view, at); next > 0; next = this.#line(view, at)) {
      at = next;
      this.lines++;
    }
    return at;
  }

  /** One line of times, states or flags; answers where the next begins, or -1 for a line of another kind. */
  #line(view: DataView, at: number): number {
    const rest = view.getInt32(at + 4, true);
    switch (view.getInt32(at, true)) {
      case W_ST:
        return rest === W_ARTS && view.getUint8(at + 8) === 0x20 ? this.#timeLine(view, at + 9, STARTS) : -1;
      case W_EN:
        return (rest & THREE_BYTES) === W_DS_BLANK ? this.#timeLine(view, at + 7, ENDS) : -1;
      case W_CL:
        return (rest & THREE_BYTES) === W_TT_BLANK ? this.#timeLine(view, at + 7, CLTT) : -1;
      case W_TS:
        if ((rest & THREE_BYTES) === W_TP_BLANK) return this.#timeLine(view, at + 7, TSTP);
        return (rest & THREE_BYTES) === W_FP_BLANK ? this.#timeLine(view, at + 7, TSFP) : -1;
      case W_AT:
        return rest === W_SFP_BLANK ? this.#timeLine(view, at + 8, ATSFP) : -1;
      case W_BI:
        if (this.#usualStates(view, at)) return this.#setBits(at + 80, USUAL_BITS, ALL_STATES);
        if (rest !== W_NDIN || view.getInt32(at + 8, true) !== W_G_ST || view.getInt32(at + 12, true) !== W_ATE) return -1;
        return this.#state(view, at + 16, 0);
      case W_NE:
        if (rest !== W_XT_B || !isIndingState(view, at + 8)) return -1;
        return this.#state(view, at + 21, BITS_NEXT_SHIFT);
      case W_RE:
        if (rest === W_SERV) return view.getInt32(at + 8, true) === W_ED ? this.#flag(at + 12, BITS_RESERVED) : -1;
        if (rest !== W_WIND || view.getInt16(at + 8, true) !== W_BLANK_B || !isIndingState(view, at + 10)) return -1;
        return this.#state(view, at + 23, BITS_REWIND_SHIFT);
      case W_BO:
        return rest === W_OTP && view.getUint8(at + 8) === NEWLINE ? this.#flag(at + 9, BITS_BOOTP) : -1;
      default:
        return -1;
    }
  }

  #timeLine(view: DataView, at: number, column: number): number {
    const next = this.#time.read(view, at);
    if (next < 0 || !this.#first(1 << column)) return -1;
    this.#columns[column] = this.#time.value;
    return next;
  }

  /** A second line of one kind is for the general reader, which complains. */
  #first(bit: number): boolean {
    const before = this.#seen;
    this.#seen = before | bit;
    return (before & bit) === 0;
  }

  #state(view: DataView, at: number, shift: number): number {
    const seen = 1 << (8 + shift / 4);
    const rest = view.getInt32(at + 4, true);
    switch (view.getInt32(at, true)) {
      case W_ACTI:
        return rest === W_VE ? this.#setBits(at + 8, ACTIVE << shift, seen) : -1;
      case W_FREE:
        return (rest & 0xffff) === W_END ? this.#setBits(at + 6, FREE << shift, seen) : -1;
      case W_EXPI:
        return rest === W_RED && view.getUint8(at + 8) === NEWLINE
          ? this.#setBits(at + 9, stateBits("expired") << shift, seen)
          : -1;
      case W_RELE:
        return rest === W_ASED && view.getInt16(at + 8, true) === W_END
          ? this.#setBits(at + 10, stateBits("released") << shift, seen)
          : -1;
      case W_ABAN:
        if (rest !== W_DONE || (view.getInt32(at + 8, true) & THREE_BYTES) !== W_D_END) return -1;
        return this.#setBits(at + 11, stateBits("abandoned") << shift, seen);
      case W_RESE:
        return (rest & THREE_BYTES) === W_T_END ? this.#setBits(at + 7, stateBits("reset") << shift, seen) : -1;
      case W_BACK:
        return rest === W_UP_END ? this.#setBits(at + 8, stateBits("backup") << shift, seen) : -1;
      default:
        return -1;
    }
  }

  #usualStates(view: DataView, at: number): boolean {
    for (let i = 0; i < 10; i++) if (view.getFloat64(at + i * 8, true) !== USUAL_STATES[i]) return false;
    this.lines += 2;
    return true;
  }

  #setBits(next: number, bits: number, seen: number): number {
    if (!this.#first(seen)) return -1;
    this.#columns[BITS] = (this.#columns[BITS] ?? 0) | bits;
    return next;
  }

  #flag(next: number, bit: number): number {
    return this.#setBits(next, bit, bit);
  }

  #keptLength(row: number): number {
    return this.#rows.rows[row * ROW_WORDS + COLUMN_LENGTH] ?? 0;
  }

  /** Lines of the row's text if it stands here again byte for byte, with the closing brace behind it; else -1. */
  #keptTail(row: number, at: number): number {
    const { rows, arena } = this.#rows;
    const base = row * ROW_WORDS;
    const bits = rows[base + COLUMN_BITS] ?? 0;
    const length = rows[base + COLUMN_LENGTH] ?? 0;
    const offset = rows[base + COLUMN_OFFSET] ?? 0;
    const view = this.#view;
    if ((bits & BITS_WHOLE_BODY) !== 0 || view.getUint8(at + length) !== CLOSE_BRACE) return -1;
    const kept = arena.viewOf(offset);
    const from = Arena.within(offset);
    // The kept text is printable ASCII, of which no eight bytes are a NaN or a zero: equal numbers are equal bytes.
    let i = 0;
    for (; i + 8 <= length; i += 8) if (view.getFloat64(at + i, true) !== kept.getFloat64(from + i, true)) return -1;
    for (; i < length; i++) if (view.getUint8(at + i) !== kept.getUint8(from + i)) return -1;
    return bits >>> TAIL_LINES_SHIFT;
  }

  /** By words: the room is longer than the text, and what lies behind the text in the buffer does no harm there. */
  #copy(offset: number, start: number, end: number): void {
    const view = this.#view;
    const kept = this.#rows.arena.viewOf(offset);
    const to = Arena.within(offset);
    for (let i = 0; start + i < end; i += 4) kept.setInt32(to + i, view.getInt32(start + i, true), true);
  }

  /** Writes what differs. `tailEnd` below 0: the row's text stays. */
  #store(row: number, tailStart: number, tailEnd: number): void {
    const table = this.#rows;
    const { rows } = table;
    const base = row * ROW_WORDS + 1;
    const columns = this.#columns;
    let differs = tailEnd >= 0;
    for (let i = 0; i < COLUMNS; i++) {
      const value = columns[i] ?? 0;
      if (rows[base + i] === value) continue;
      rows[base + i] = value;
      differs = true;
    }
    if (tailEnd >= 0) this.#copy(table.makeRoom(row, tailEnd - tailStart), tailStart, tailEnd);
    if (differs) table.markDirty(row);
  }
}

/** `inding state ` of `next binding state` and `rewind binding state`. */
function isIndingState(view: DataView, at: number): boolean {
  if (view.getInt32(at, true) !== W_INDI || view.getInt32(at + 4, true) !== W_NG_S) return false;
  return view.getInt32(at + 8, true) === W_TATE && view.getUint8(at + 12) === 0x20;
}
