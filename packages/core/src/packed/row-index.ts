import { assert } from "../problem.js";

/** Slots of a segment before it is split in two: what one insertion may cost. */
const SLOTS_MAX = 1024;
const SLOTS_MIN = 8;
/** Linear probing is short up to here. */
const FULL = 0.8;
const GROWTH = 1.25;
/** The upper bits of a hash say in which segment it is, the lower ones where in it. */
const DEPTH_MAX = 16;

/** An open-addressed table of pairs: a hash, and a row plus one (0 is free). */
interface Segment {
  readonly depth: number;
  count: number;
  slots: Uint32Array;
}

/**
 * An index from a key to the numbers of all rows that carry it, in about eleven octets an entry. It keeps no key: `holds` says whether a row has
 * it, and is asked only where all 32 bits of the hash agree. Grows by splitting one small segment at a time (extendible hashing), so no insertion
 * waits for the rest of a million.
 */
export class RowIndex<Key> {
  private readonly hashOf: (key: Key) => number;
  private readonly holds: (row: number, key: Key) => boolean;
  /** By the upper `depth` bits of the hash; a segment of less depth stands there more than once. */
  private segments: Segment[] = [{ depth: 0, count: 0, slots: new Uint32Array(2 * SLOTS_MIN) }];
  private depth = 0;
  private entries = 0;

  constructor(hashOf: (key: Key) => number, holds: (row: number, key: Key) => boolean) {
    this.hashOf = hashOf;
    this.holds = holds;
  }

  get size(): number {
    return this.entries;
  }

  /** A row that carries the key; -1 when none does. */
  find(key: Key): number {
    const hash = this.hashOf(key);
    const { slots } = this.segmentOf(hash);
    for (let at = homeOf(hash, slots); ; at = nextOf(at, slots)) {
      const entry = slots[at + 1] ?? 0;
      if (entry === 0) return -1;
      if (slots[at] === hash && this.holds(entry - 1, key)) return entry - 1;
    }
  }

  /** All of them, in no order. */
  all(key: Key): number[] {
    const found: number[] = [];
    const hash = this.hashOf(key);
    const { slots } = this.segmentOf(hash);
    for (let at = homeOf(hash, slots); ; at = nextOf(at, slots)) {
      const entry = slots[at + 1] ?? 0;
      if (entry === 0) return found;
      if (slots[at] === hash && this.holds(entry - 1, key)) found.push(entry - 1);
    }
  }

  /** Every row of the index, in no order; one that carries several keys comes as often. */
  *rows(): Iterable<number> {
    for (const { slots } of new Set(this.segments)) {
      for (let at = 1; at < slots.length; at += 2) {
        const entry = slots[at] ?? 0;
        if (entry !== 0) yield entry - 1;
      }
    }
  }

  /** The row must not be there under this key already. */
  add(key: Key, row: number): void {
    const hash = this.hashOf(key);
    let segment = this.segmentOf(hash);
    while (segment.count + 1 > (segment.slots.length / 2) * FULL) {
      if (segment.slots.length / 2 < SLOTS_MAX || segment.depth === DEPTH_MAX) resize(segment, segment.count + 1);
      else this.split(segment, hash);
      segment = this.segmentOf(hash);
    }
    put(segment.slots, hash, row + 1);
    segment.count += 1;
    this.entries += 1;
  }

  remove(key: Key, row: number): void {
    const hash = this.hashOf(key);
    const segment = this.segmentOf(hash);
    const { slots } = segment;
    let at = homeOf(hash, slots);
    for (; slots[at] !== hash || slots[at + 1] !== row + 1; at = nextOf(at, slots)) if (slots[at + 1] === 0) return;
    takeOut(slots, at);
    segment.count -= 1;
    this.entries -= 1;
    if (slots.length > 2 * SLOTS_MIN && segment.count < (slots.length / 2) * (FULL / 4)) resize(segment, segment.count);
  }

  private segmentOf(hash: number): Segment {
    const segment = this.segments[this.depth === 0 ? 0 : hash >>> (32 - this.depth)];
    assert(segment !== undefined, "a hash without a segment");
    return segment;
  }

  private split({ count, depth, slots }: Segment, hash: number): void {
    if (depth === this.depth) {
      this.segments = this.segments.flatMap((segment) => [segment, segment]);
      this.depth += 1;
    }
    const capacity = Math.ceil(count / 2 / FULL) * GROWTH;
    const empty = (): Segment => ({ depth: depth + 1, count: 0, slots: newSlots(capacity) });
    const [lower, upper] = [empty(), empty()];
    for (let at = 0; at < slots.length; at += 2) {
      const entry = slots[at + 1] ?? 0;
      if (entry === 0) continue;
      const own = slots[at] ?? 0;
      const half = ((own >>> (31 - depth)) & 1) === 0 ? lower : upper;
      if (half.count + 1 >= half.slots.length / 2) resize(half, half.count + 1);
      put(half.slots, own, entry);
      half.count += 1;
    }
    const wide = this.depth - depth;
    const first = (hash >>> (32 - this.depth)) & ~((1 << wide) - 1);
    const middle = first + (1 << (wide - 1));
    for (let place = first; place < first + (1 << wide); place++) this.segments[place] = place < middle ? lower : upper;
  }
}

function newSlots(capacity: number): Uint32Array {
  return new Uint32Array(2 * Math.max(SLOTS_MIN, Math.ceil(capacity)));
}

/** Position of the pair where a hash belongs: spread over all slots, whatever their number is. */
function homeOf(hash: number, slots: Uint32Array): number {
  return Math.floor(((hash & 0xffff) * (slots.length / 2)) / 0x10000) * 2;
}

function nextOf(at: number, slots: Uint32Array): number {
  return at + 2 === slots.length ? 0 : at + 2;
}

function put(slots: Uint32Array, hash: number, entry: number): void {
  let at = homeOf(hash, slots);
  while (slots[at + 1] !== 0) at = nextOf(at, slots);
  slots[at] = hash;
  slots[at + 1] = entry;
}

/** Those behind move up, so that no search stops short of them. */
function takeOut(slots: Uint32Array, from: number): void {
  let hole = from;
  for (let at = nextOf(hole, slots); slots[at + 1] !== 0; at = nextOf(at, slots)) {
    const home = homeOf(slots[at] ?? 0, slots);
    if (distance(home, at, slots) < distance(hole, at, slots)) continue;
    slots[hole] = slots[at] ?? 0;
    slots[hole + 1] = slots[at + 1] ?? 0;
    hole = at;
  }
  slots[hole] = 0;
  slots[hole + 1] = 0;
}

function distance(from: number, to: number, slots: Uint32Array): number {
  return to >= from ? to - from : to + slots.length - from;
}

/** To as many slots as so many entries need. */
function resize(segment: Segment, count: number): void {
  const { slots } = segment;
  segment.slots = newSlots((count / FULL) * GROWTH);
  for (let at = 0; at < slots.length; at += 2) {
    const entry = slots[at + 1] ?? 0;
    if (entry !== 0) put(segment.slots, slots[at] ?? 0, entry);
  }
}
