import { Arena } from "../table/arena.js";
import {
  BITS_WHOLE_BODY,
  type Lease4Rows,
  RECORD_TEXT,
  WORD_ATSFP,
  WORD_BITS,
  WORD_CLTT,
  WORD_ENDS,
  WORD_LENGTH,
  WORD_ROW,
  WORD_STARTS,
  WORD_TSFP,
  WORD_TSTP,
} from "../table/lease4-rows.js";
import { FastFrames, FRAME_WORDS } from "./fast-frames.js";
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
 * same result. Writes straight into the table's records; a renewal that only moves times touches nothing else.
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
        if (!this.#settle(i)) {
          this.#frames.judge(false);
          return at;
        }
        // The newline behind the brace was seen.
        this.lines++;
        at = (this.#frames.braces[i] ?? 0) + 2;
      }
      this.#frames.judge(true);
    }
  }

  /** Reads the one block whose closing brace is known to stand right before `end`; false with nothing changed if it is not in this form. */
  block(start: number, end: number): boolean {
    this.lines = 0;
    const tail = this.#frames.head(this.#view, start, 0);
    if (tail < 0 || tail >= end) return false;
    this.#frames.braces[0] = end - 1;
    return this.#settle(0);
  }

  /** Checks the tail of a framed block and puts it into its record. */
  #settle(block: number): boolean {
    const frames = this.#frames;
    const rows = this.#rows;
    const place = frames.placeOf(block);
    if (place === 0) return this.#store(block, 0);
    const kept = rows.arena.viewOf(place);
    const at = Arena.within(place);
    if (!this.#keepsTail(kept, at, frames.tails[block] ?? 0, frames.braces[block] ?? 0)) return this.#store(block, place);
    const tailLines = kept.getInt32(at + WORD_BITS * 4, true) >>> TAIL_LINES_SHIFT;
    if (this.#putWords(kept, at, block, tailLines)) rows.markDirty(kept.getInt32(at + WORD_ROW * 4, true));
    return true;
  }

  /** Whether the record's text is what stands between `tail` and the brace, byte for byte. */
  #keepsTail(kept: DataView, at: number, tail: number, brace: number): boolean {
    if (kept.getInt32(at + WORD_LENGTH * 4, true) !== brace - tail) return false;
    if ((kept.getInt32(at + WORD_BITS * 4, true) & BITS_WHOLE_BODY) !== 0) return false;
    const view = this.#view;
    const from = at + RECORD_TEXT - tail;
    // The kept text is printable ASCII, of which no eight bytes are a NaN or a zero: equal numbers are equal bytes.
    let i = tail;
    for (; i + 32 <= brace; i += 32) {
      if (view.getFloat64(i, true) !== kept.getFloat64(from + i, true)) return false;
      if (view.getFloat64(i + 8, true) !== kept.getFloat64(from + i + 8, true)) return false;
      if (view.getFloat64(i + 16, true) !== kept.getFloat64(from + i + 16, true)) return false;
      if (view.getFloat64(i + 24, true) !== kept.getFloat64(from + i + 24, true)) return false;
    }
    for (; i + 8 <= brace; i += 8) if (view.getFloat64(i, true) !== kept.getFloat64(from + i, true)) return false;
    for (; i < brace; i++) if (view.getUint8(i) !== kept.getUint8(from + i)) return false;
    return view.getUint8(brace) === CLOSE_BRACE;
  }

  /** Times, states and the number of lines of the tail; answers whether any of them is another. */
  #putWords(kept: DataView, at: number, block: number, tailLines: number): boolean {
    const { words, lines } = this.#frames;
    const base = block * FRAME_WORDS;
    this.lines += (lines[block] ?? 0) + tailLines;
    const starts = words[base + WORD_STARTS] ?? 0;
    const ends = words[base + WORD_ENDS] ?? 0;
    const tstp = words[base + WORD_TSTP] ?? 0;
    const tsfp = words[base + WORD_TSFP] ?? 0;
    const atsfp = words[base + WORD_ATSFP] ?? 0;
    const cltt = words[base + WORD_CLTT] ?? 0;
    const bits = (words[base + WORD_BITS] ?? 0) | (tailLines << TAIL_LINES_SHIFT);
    // A renewal moves three of them; the other four are nearly always the same and are not written.
    const moved =
      (kept.getInt32(at + WORD_STARTS * 4, true) ^ starts) |
      (kept.getInt32(at + WORD_ENDS * 4, true) ^ ends) |
      (kept.getInt32(at + WORD_CLTT * 4, true) ^ cltt);
    const others =
      (kept.getInt32(at + WORD_TSTP * 4, true) ^ tstp) |
      (kept.getInt32(at + WORD_TSFP * 4, true) ^ tsfp) |
      (kept.getInt32(at + WORD_ATSFP * 4, true) ^ atsfp) |
      (kept.getInt32(at + WORD_BITS * 4, true) ^ bits);
    if (moved !== 0) {
      kept.setInt32(at + WORD_STARTS * 4, starts, true);
      kept.setInt32(at + WORD_ENDS * 4, ends, true);
      kept.setInt32(at + WORD_CLTT * 4, cltt, true);
    }
    if (others !== 0) {
      kept.setInt32(at + WORD_TSTP * 4, tstp, true);
      kept.setInt32(at + WORD_TSFP * 4, tsfp, true);
      kept.setInt32(at + WORD_ATSFP * 4, atsfp, true);
      kept.setInt32(at + WORD_BITS * 4, bits, true);
    }
    return (moved | others) !== 0;
  }

  /** A lease that is new (`before` is 0) or whose text is another. */
  #store(block: number, before: number): boolean {
    const frames = this.#frames;
    const table = this.#rows;
    const view = this.#view;
    const start = frames.tails[block] ?? 0;
    const end = frames.braces[block] ?? 0;
    if (end - (frames.starts[block] ?? 0) > BLOCK_MAX || this.#tail.check(view, start, end + 1) !== end) return false;
    if (this.#tail.lines > TAIL_LINES_MAX) return false;
    const length = end - start;
    const place = table.makeRoom(before === 0 ? table.findOrAdd(frames.addresses[block] ?? 0, length) : before, length);
    const kept = table.arena.viewOf(place);
    const at = Arena.within(place);
    this.#putWords(kept, at, block, this.#tail.lines);
    // Eight octets at a time: room is a multiple of eight, and what lies behind the text in the buffer does no harm there, whatever it is as a number.
    for (let i = start, to = at + RECORD_TEXT; i < end; i += 8, to += 8) kept.setFloat64(to, view.getFloat64(i, true), true);
    table.markDirty(kept.getInt32(at + WORD_ROW * 4, true));
    return true;
  }
}
