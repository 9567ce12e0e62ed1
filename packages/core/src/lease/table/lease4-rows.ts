import { BINDING_STATES, type BindingState } from "../model.js";
import { TIME_UNKNOWN } from "../dhcpd/time-value.js";
import { Arena } from "./arena.js";

/**
 * The IPv4 leases as rows of one typed array, a cache line each, plus one arena of texts: no object per lease, so that a million leases cost
 * what their text costs and a renewal of a known lease allocates nothing.
 */
export const ROW_WORDS = 16;
export const COLUMN_ADDRESS = 0;
export const COLUMN_STARTS = 1;
export const COLUMN_ENDS = 2;
export const COLUMN_TSTP = 3;
export const COLUMN_TSFP = 4;
export const COLUMN_ATSFP = 5;
export const COLUMN_CLTT = 6;
export const COLUMN_BITS = 7;
export const COLUMN_OFFSET = 8;
export const COLUMN_LENGTH = 9;
export const COLUMN_CAPACITY = 10;
/** Dirty bits of the readers of changes; not part of the lease, but touched with it: what follows may lie in another cache line. */
export const COLUMN_DIRTY = 11;
/** Chain of the hardware address index: the next and the previous row + 1 in the bucket, and the bucket's hash as indexed. */
export const COLUMN_NEXT = 12;
export const COLUMN_PREVIOUS = 13;
export const COLUMN_HASH = 14;
/** The slot that leads to this row. */
const COLUMN_SLOT = 15;

/** `bits`: three states of four bits each (0 none, 1 to 7 as listed, 8 unknown), flags, and how the text in the arena is to be read. */
export const BITS_NEXT_SHIFT = 4;
export const BITS_REWIND_SHIFT = 8;
export const BITS_BOOTP = 1 << 12;
export const BITS_RESERVED = 1 << 13;
/** The text is the whole body of the block; without this bit it is what follows times and states in dhcpd's own layout. */
export const BITS_WHOLE_BODY = 1 << 14;
/** The text comes from a damaged block: its strings end with their lines. */
export const BITS_DAMAGED = 1 << 15;

const UNKNOWN_STATE = 8;

export function stateBits(state: BindingState | "unknown" | null): number {
  return state === null ? 0 : state === "unknown" ? UNKNOWN_STATE : BINDING_STATES.indexOf(state) + 1;
}

export function stateOfBits(bits: number): BindingState | "unknown" | null {
  const number = bits & 15;
  return number === 0 ? null : number === UNKNOWN_STATE ? "unknown" : (BINDING_STATES[number - 1] ?? "unknown");
}

export const ACTIVE_BITS = stateBits("active");

/** Who wants to know of changed rows, each with a bit and a list of its own. */
export const READERS = 3;
export const READER_CHANGES = 0;
export const READER_INDEX = 1;
export const READER_CLOCK = 2;

const START_ROWS = 1024;
const COMPACT_MIN = 256 * 1024;

export class Lease4Rows {
  rows = new Int32Array(START_ROWS * ROW_WORDS);
  count = 0;
  arena = new Arena();
  /**
   * Open addressing, a power of two of slots, at most half of them taken. A slot is two words: the row + 1 (0 for none), and the place of the row's
   * text, so that row and text can be fetched from main memory at the same time.
   */
  slots = new Int32Array(START_ROWS * 2 * 2);
  mask = START_ROWS * 2 - 1;
  /** Shift that keeps as many of the upper hash bits as there are blocks of 256 slots. */
  shift = 32 - Math.log2((START_ROWS * 2) / 256);
  readonly dirty: [number[], number[], number[]] = [[], [], []];
  /** Bits of the readers that have asked at least once. */
  #asked = 0;

  /** The slot of this address (32 bits), or of the place where it would stand. */
  slotOf(address: number): number {
    const { slots, rows, mask } = this;
    for (let at = this.hash(address); ; at = (at + 1) & mask) {
      const row = (slots[at * 2] ?? 0) - 1;
      if (row < 0 || rows[row * ROW_WORDS] === address) return at;
    }
  }

  /** The row of this address, or -1. */
  find(address: number): number {
    return (this.slots[this.slotOf(address) * 2] ?? 0) - 1;
  }

  /** The row of this address, made if there is none; a new row is all unknown. */
  findOrAdd(address: number): number {
    const slot = this.slotOf(address);
    const row = (this.slots[slot * 2] ?? 0) - 1;
    return row < 0 ? this.#add(address, slot) : row;
  }

  /** Neighbours stay neighbours, for ranges are dense; blocks of 256 are scattered, so that no stride piles up. */
  hash(address: number): number {
    return ((address & 255) | ((Math.imul(address >>> 8, 0x9e3779b1) >>> this.shift) << 8)) & this.mask;
  }

  #add(address: number, at: number): number {
    const row = this.count++;
    if ((row + 1) * ROW_WORDS > this.rows.length) this.#growRows();
    const base = row * ROW_WORDS;
    this.rows[base] = address;
    for (let column = COLUMN_STARTS; column <= COLUMN_CLTT; column++) this.rows[base + column] = TIME_UNKNOWN;
    this.#putSlot(row, at);
    if (this.count > this.mask >> 1) this.#growSlots();
    this.markDirty(row);
    return row;
  }

  #growRows(): void {
    const rows = new Int32Array(this.rows.length * 2);
    rows.set(this.rows);
    this.rows = rows;
  }

  #putSlot(row: number, slot: number): void {
    this.rows[row * ROW_WORDS + COLUMN_SLOT] = slot;
    this.slots[slot * 2] = row + 1;
    this.slots[slot * 2 + 1] = this.rows[row * ROW_WORDS + COLUMN_OFFSET] ?? 0;
  }

  #growSlots(): void {
    const size = (this.mask + 1) * 2;
    this.slots = new Int32Array(size * 2);
    this.mask = size - 1;
    this.shift = 32 - Math.log2(size / 256);
    for (let row = 0; row < this.count; row++) {
      let at = this.hash(this.rows[row * ROW_WORDS] ?? 0);
      while (this.slots[at * 2] !== 0) at = (at + 1) & this.mask;
      this.#putSlot(row, at);
    }
  }

  #setOffset(row: number, offset: number): void {
    const base = row * ROW_WORDS;
    this.rows[base + COLUMN_OFFSET] = offset;
    this.slots[(this.rows[base + COLUMN_SLOT] ?? 0) * 2 + 1] = offset;
  }

  /** The place in the arena for a text of this length: the row's own, or a new one when it does not fit there. The length is noted. */
  makeRoom(row: number, length: number): number {
    const base = row * ROW_WORDS;
    const capacity = this.rows[base + COLUMN_CAPACITY] ?? 0;
    if (length > capacity) {
      this.arena.garbage += capacity;
      this.rows[base + COLUMN_LENGTH] = 0;
      if (this.arena.garbage > COMPACT_MIN && this.arena.garbage * 2 > this.arena.used) this.#compact();
      const given = Arena.capacityFor(length);
      this.#setOffset(row, this.arena.allocate(given));
      this.rows[base + COLUMN_CAPACITY] = given;
    }
    this.rows[base + COLUMN_LENGTH] = length;
    return this.rows[base + COLUMN_OFFSET] ?? 0;
  }

  sameText(row: number, source: Uint8Array, start: number, end: number): boolean {
    const base = row * ROW_WORDS;
    if (this.rows[base + COLUMN_LENGTH] !== end - start) return false;
    const { bytes, at } = this.arena.place(this.rows[base + COLUMN_OFFSET] ?? 0);
    for (let i = start; i < end; i++) if (source[i] !== bytes[at + i - start]) return false;
    return true;
  }

  /** Everything that is referred to moves to a new arena; rows whose text is empty give their place up. */
  #compact(): void {
    const { rows } = this;
    const arena = new Arena();
    for (let row = 0; row < this.count; row++) {
      const base = row * ROW_WORDS;
      const length = rows[base + COLUMN_LENGTH] ?? 0;
      const capacity = length === 0 ? 0 : Arena.capacityFor(length);
      if (length > 0) {
        const from = this.arena.place(rows[base + COLUMN_OFFSET] ?? 0);
        const offset = arena.allocate(capacity);
        const to = arena.place(offset);
        to.bytes.set(from.bytes.subarray(from.at, from.at + length), to.at);
        this.#setOffset(row, offset);
      } else {
        this.#setOffset(row, 0);
      }
      rows[base + COLUMN_CAPACITY] = capacity;
    }
    this.arena = arena;
  }

  /** Until a reader asks for the first time nothing is noted for it: its first answer is every row. */
  markDirty(row: number): void {
    if (this.#asked === 0) return;
    const at = row * ROW_WORDS + COLUMN_DIRTY;
    const bits = this.rows[at] ?? 0;
    const missing = this.#asked & ~bits;
    if (missing === 0) return;
    for (let reader = 0; reader < READERS; reader++) if ((missing >> reader) & 1) this.dirty[reader]?.push(row);
    this.rows[at] = bits | missing;
  }

  /** The rows changed since this reader's last call, each once; all rows at the first call. */
  takeDirty(reader: 0 | 1 | 2): readonly number[] {
    if (((this.#asked >> reader) & 1) === 0) {
      this.#asked |= 1 << reader;
      return Array.from({ length: this.count }, (_, row) => row);
    }
    const taken = this.dirty[reader];
    this.dirty[reader] = [];
    for (const row of taken) {
      const at = row * ROW_WORDS + COLUMN_DIRTY;
      this.rows[at] = (this.rows[at] ?? 0) & ~(1 << reader);
    }
    return taken;
  }
}
