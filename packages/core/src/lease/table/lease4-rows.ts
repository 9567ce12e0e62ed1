import { BINDING_STATES, type BindingState } from "../model.js";
import { TIME_UNKNOWN } from "../dhcpd/time-value.js";
import { Arena } from "./arena.js";

/**
 * The IPv4 leases without an object per lease, so that a million leases cost what their text costs and a renewal of a known lease allocates nothing. What a renewal
 * reads and writes lies in one piece in the arena, the record: these words and then the lease's text. What it does not touch is in columns by row.
 */
export const WORD_STARTS = 0;
export const WORD_ENDS = 1;
export const WORD_TSTP = 2;
export const WORD_TSFP = 3;
export const WORD_ATSFP = 4;
export const WORD_CLTT = 5;
export const WORD_BITS = 6;
/** Octets of text, and how many there is room for. */
export const WORD_LENGTH = 7;
export const WORD_CAPACITY = 8;
export const WORD_ROW = 9;
/** Where the text begins, in octets from the record's beginning. */
export const RECORD_TEXT = 40;

/** Words of a row. */
export const ROW_WORDS = 6;
const COLUMN_ADDRESS = 0;
/** The record's place in the arena. */
const COLUMN_PLACE = 1;
/** Dirty bits of the readers of changes. */
const COLUMN_DIRTY = 2;
/** Chain of the hardware address index: the next and the previous row + 1 in the bucket, and the bucket's hash as indexed. */
export const COLUMN_NEXT = 3;
export const COLUMN_PREVIOUS = 4;
export const COLUMN_HASH = 5;

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

/** A record's place: `view` and `bytes` are of its segment of the arena, `at` is where it begins there. Good until the next row is added or text stored. */
export interface RecordPlace {
  readonly view: DataView;
  readonly bytes: Uint8Array;
  readonly at: number;
}

export class Lease4Rows {
  rows = new Int32Array(START_ROWS * ROW_WORDS);
  count = 0;
  arena = new Arena();
  /**
   * Open addressing, a power of two of slots, at most half of them taken. A slot is two words: the address, and the place of its record (0 for
   * none), so that nothing but the slot must be looked at to find the record.
   */
  slots = new Int32Array(START_ROWS * 2 * 2);
  mask = START_ROWS * 2 - 1;
  /** Shift that keeps as many of the upper hash bits as there are blocks of 256 slots. */
  shift = 32 - Math.log2((START_ROWS * 2) / 256);
  /** Counts the records that were made or moved: while it stands still, every place is good. */
  moves = 0;
  readonly dirty: [number[], number[], number[]] = [[], [], []];
  /** Bits of the readers that have asked at least once. */
  #asked = 0;

  /** The slot of this address (32 bits), or of the place where it would stand. */
  slotOf(address: number): number {
    const { slots, mask } = this;
    for (let at = this.hash(address); ; at = (at + 1) & mask) {
      if (slots[at * 2] === address || slots[at * 2 + 1] === 0) return at;
    }
  }

  /** The place of this address's record; 0 for none. */
  placeOf(address: number): number {
    return this.slots[this.slotOf(address) * 2 + 1] ?? 0;
  }

  /** The row of this address, or -1. */
  find(address: number): number {
    const place = this.placeOf(address);
    return place === 0 ? -1 : this.arena.viewOf(place).getInt32(Arena.within(place) + WORD_ROW * 4, true);
  }

  /** The place of this address's record, made if there is none: all unknown, with room for a text of this length. */
  findOrAdd(address: number, length: number): number {
    const place = this.placeOf(address);
    return place === 0 ? this.#add(address, length) : place;
  }

  /** Neighbours stay neighbours, for ranges are dense; blocks of 256 are scattered, so that no stride piles up. */
  hash(address: number): number {
    return ((address & 255) | ((Math.imul(address >>> 8, 0x9e3779b1) >>> this.shift) << 8)) & this.mask;
  }

  /** Where the row's record is now: the first address of the file has row 0. */
  record(row: number): RecordPlace {
    const place = this.rows[row * ROW_WORDS + COLUMN_PLACE] ?? 0;
    return { view: this.arena.viewOf(place), bytes: this.arena.bytesOf(place), at: Arena.within(place) };
  }

  address(row: number): number {
    return this.rows[row * ROW_WORDS + COLUMN_ADDRESS] ?? 0;
  }

  word(row: number, word: number): number {
    const { view, at } = this.record(row);
    return view.getInt32(at + word * 4, true);
  }

  #add(address: number, length: number): number {
    const row = this.count++;
    if ((row + 1) * ROW_WORDS > this.rows.length) this.#growRows();
    const capacity = Arena.capacityFor(length);
    const place = this.arena.allocate(RECORD_TEXT + capacity);
    const view = this.arena.viewOf(place);
    const at = Arena.within(place);
    for (let word = WORD_STARTS; word <= WORD_CLTT; word++) view.setInt32(at + word * 4, TIME_UNKNOWN, true);
    view.setInt32(at + WORD_BITS * 4, 0, true);
    view.setInt32(at + WORD_LENGTH * 4, 0, true);
    view.setInt32(at + WORD_CAPACITY * 4, capacity, true);
    view.setInt32(at + WORD_ROW * 4, row, true);
    this.rows[row * ROW_WORDS + COLUMN_ADDRESS] = address;
    this.#notePlace(row, place);
    if (this.count > this.mask >> 1) this.#growSlots();
    this.markDirty(row);
    return place;
  }

  #growRows(): void {
    const rows = new Int32Array(this.rows.length * 2);
    rows.set(this.rows);
    this.rows = rows;
  }

  #notePlace(row: number, place: number): void {
    const address = this.address(row);
    const slot = this.slotOf(address) * 2;
    this.moves++;
    this.rows[row * ROW_WORDS + COLUMN_PLACE] = place;
    this.slots[slot] = address;
    this.slots[slot + 1] = place;
  }

  #growSlots(): void {
    const { slots: before } = this;
    const size = (this.mask + 1) * 2;
    this.slots = new Int32Array(size * 2);
    this.mask = size - 1;
    this.shift = 32 - Math.log2(size / 256);
    for (let old = 0; old < before.length; old += 2) {
      const record = before[old + 1] ?? 0;
      if (record === 0) continue;
      const address = before[old] ?? 0;
      const slot = this.slotOf(address) * 2;
      this.slots[slot] = address;
      this.slots[slot + 1] = record;
    }
  }

  /** Room for a text of this length in the record at that place, or in a new place when it does not fit there. The length is noted; answers the place. */
  makeRoom(before: number, length: number): number {
    const view = this.arena.viewOf(before);
    const at = Arena.within(before);
    const fits = length <= view.getInt32(at + WORD_CAPACITY * 4, true);
    const place = fits ? before : this.#move(view.getInt32(at + WORD_ROW * 4, true), length);
    this.arena.viewOf(place).setInt32(Arena.within(place) + WORD_LENGTH * 4, length, true);
    return place;
  }

  /** To a new place with more room; the text is left behind. */
  #move(row: number, length: number): number {
    const { view, at } = this.record(row);
    view.setInt32(at + WORD_LENGTH * 4, 0, true);
    this.arena.garbage += RECORD_TEXT + view.getInt32(at + WORD_CAPACITY * 4, true);
    if (this.arena.garbage > COMPACT_MIN && this.arena.garbage * 2 > this.arena.used) this.#compact();
    return this.#copyRecord(row, this.arena, Arena.capacityFor(length));
  }

  #copyRecord(row: number, arena: Arena, capacity: number): number {
    const { view, bytes, at } = this.record(row);
    const place = arena.allocate(RECORD_TEXT + capacity);
    const octets = RECORD_TEXT + view.getInt32(at + WORD_LENGTH * 4, true);
    arena.bytesOf(place).set(bytes.subarray(at, at + octets), Arena.within(place));
    arena.viewOf(place).setInt32(Arena.within(place) + WORD_CAPACITY * 4, capacity, true);
    this.#notePlace(row, place);
    return place;
  }

  sameText(place: number, source: Uint8Array, start: number, end: number): boolean {
    const view = this.arena.viewOf(place);
    const bytes = this.arena.bytesOf(place);
    const at = Arena.within(place);
    if (view.getInt32(at + WORD_LENGTH * 4, true) !== end - start) return false;
    for (let i = start; i < end; i++) if (source[i] !== bytes[at + RECORD_TEXT + i - start]) return false;
    return true;
  }

  /** Every record moves to a new arena; one whose text is empty gives its room up. */
  #compact(): void {
    const arena = new Arena();
    for (let row = 0; row < this.count; row++) {
      const length = this.word(row, WORD_LENGTH);
      this.#copyRecord(row, arena, length === 0 ? 0 : Arena.capacityFor(length));
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
