import { Arena } from "../table/arena.js";
import {
  BITS_WHOLE_BODY,
  COLUMN_BITS,
  COLUMN_LENGTH,
  COLUMN_OFFSET,
  COLUMN_STARTS,
  type Lease4Rows,
  ROW_WORDS,
} from "../table/lease4-rows.js";
import {
  FastFrames,
  FRAME_ADDRESS,
  FRAME_BITS,
  FRAME_BRACE,
  FRAME_LINES,
  FRAME_START,
  FRAME_TAIL,
  FRAME_WORDS,
} from "./fast-frames.js";
import { FastTail } from "./fast-tail.js";
import { CLOSE_BRACE } from "./tokens.js";

/** Bytes that must lie behind the start of a block in its buffer: loads are not checked against the end of what was read. */
export const FAST_SPAN = 4096;
/** A block whose tail ends farther away is left to the general reader, wherever it lies. */
const BLOCK_MAX = 1536;
/** Lines of the kept text, in the upper half of the bits. */
const TAIL_LINES_SHIFT = 16;
const TAIL_LINES_MAX = 255;

/**
 * Reads `lease` blocks in exactly the layout in which dhcpd writes them, and nothing else: whatever differs by one byte is left to the general reader, with the
 * same result. Writes straight into the table's rows; a renewal that only moves times touches nothing else.
 */
export class FastLease4 {
  /** Newlines in the blocks read last. */
  lines = 0;
  readonly #rows: Lease4Rows;
  readonly #frames: FastFrames;
  readonly #tail = new FastTail();
  #view: DataView = new DataView(new ArrayBuffer(0));
  #bytes: Uint8Array = new Uint8Array();

  constructor(rows: Lease4Rows) {
    this.#rows = rows;
    this.#frames = new FastFrames(rows);
  }

  /** The buffer that blocks are read from until the next call. */
  use(bytes: Uint8Array): void {
    if (this.#bytes === bytes) return;
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /**
   * Reads blocks from `start` on that begin before `stopAt` and are whole before `end`; answers where the first thing begins that it did not read. At least
   * {@link FAST_SPAN} bytes must lie behind `stopAt` in the buffer.
   */
  blocks(start: number, until: { readonly end: number; readonly stopAt: number }): number {
    this.lines = 0;
    let at = start;
    for (;;) {
      const count = this.#frames.look(this.#view, at, until);
      if (count === 0) return at;
      for (let i = 0; i < count; i++) {
        if (!this.#settle(i * FRAME_WORDS)) {
          this.#frames.judge(false);
          return at;
        }
        // The newline behind the brace was seen.
        this.lines++;
        at = (this.#frames.frames[i * FRAME_WORDS + FRAME_BRACE] ?? 0) + 2;
      }
      this.#frames.judge(true);
    }
  }

  /** Reads the one block whose closing brace is known to stand right before `end`; false with nothing changed if it is not in this form. */
  block(start: number, end: number): boolean {
    this.lines = 0;
    const tail = this.#frames.head(this.#view, start, 0);
    if (tail < 0 || tail >= end) return false;
    this.#frames.frames[FRAME_BRACE] = end - 1;
    return this.#settle(0);
  }

  /** Checks the tail of a framed block and puts it into its row. */
  #settle(frame: number): boolean {
    const frames = this.#frames.frames;
    const start = frames[frame + FRAME_START] ?? 0;
    const tail = frames[frame + FRAME_TAIL] ?? 0;
    const brace = frames[frame + FRAME_BRACE] ?? 0;
    const address = frames[frame + FRAME_ADDRESS] ?? 0;
    const row = this.#rows.find(address);
    let tailLines = row < 0 ? -1 : this.#keptTail(row, tail, brace);
    const kept = tailLines >= 0;
    if (!kept) {
      if (brace - start > BLOCK_MAX || this.#tail.check(this.#view, tail, brace + 1) !== brace) return false;
      tailLines = this.#tail.lines;
      if (tailLines > TAIL_LINES_MAX) return false;
    }
    frames[frame + FRAME_BITS] = (frames[frame + FRAME_BITS] ?? 0) | (tailLines << TAIL_LINES_SHIFT);
    this.lines += (frames[frame + FRAME_LINES] ?? 0) + tailLines;
    if (kept) this.#renew(row, frame);
    else this.#store(row < 0 ? this.#rows.findOrAdd(address) : row, frame);
    return true;
  }

  /** Lines of the row's text if that is what stands between `at` and the brace, byte for byte; else -1. */
  #keptTail(row: number, at: number, brace: number): number {
    const { rows, arena } = this.#rows;
    const base = row * ROW_WORDS;
    const bits = rows[base + COLUMN_BITS] ?? 0;
    if ((bits & BITS_WHOLE_BODY) !== 0 || rows[base + COLUMN_LENGTH] !== brace - at) return -1;
    const offset = rows[base + COLUMN_OFFSET] ?? 0;
    const view = this.#view;
    const kept = arena.viewOf(offset);
    const from = Arena.within(offset) - at;
    // The kept text is printable ASCII, of which no eight bytes are a NaN or a zero: equal numbers are equal bytes.
    let i = at;
    for (; i + 8 <= brace; i += 8) if (view.getFloat64(i, true) !== kept.getFloat64(from + i, true)) return -1;
    for (; i < brace; i++) if (view.getUint8(i) !== kept.getUint8(from + i)) return -1;
    return view.getUint8(brace) === CLOSE_BRACE ? bits >>> TAIL_LINES_SHIFT : -1;
  }

  /** A text that is the row's own stays where it is. */
  #renew(row: number, frame: number): void {
    const { rows } = this.#rows;
    const frames = this.#frames.frames;
    const base = row * ROW_WORDS + COLUMN_STARTS;
    let differs = 0;
    for (let i = 0; i <= FRAME_BITS; i++) {
      const value = frames[frame + i] ?? 0;
      differs |= (rows[base + i] ?? 0) ^ value;
      rows[base + i] = value;
    }
    if (differs !== 0) this.#rows.markDirty(row);
  }

  #store(row: number, frame: number): void {
    this.#renew(row, frame);
    const table = this.#rows;
    const view = this.#view;
    const start = this.#frames.frames[frame + FRAME_TAIL] ?? 0;
    const end = this.#frames.frames[frame + FRAME_BRACE] ?? 0;
    const offset = table.makeRoom(row, end - start);
    const kept = table.arena.viewOf(offset);
    const to = Arena.within(offset);
    // By words: the room is longer than the text, and what lies behind the text in the buffer does no harm there.
    for (let i = 0; start + i < end; i += 4) kept.setInt32(to + i, view.getInt32(start + i, true), true);
    table.markDirty(row);
  }
}
