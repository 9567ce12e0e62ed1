/** Room that a text gets beyond its length, so that most later texts of the same lease fit in its place. */
const SLACK = 16;
/** Segments of 4 MiB: growing never copies, and the longest text (one declaration, 1 MiB) fits into one. */
const SEGMENT_SHIFT = 22;
const SEGMENT_BYTES = 1 << SEGMENT_SHIFT;
const SEGMENT_MASK = SEGMENT_BYTES - 1;
/** Loads of eight bytes may begin up to two cache lines behind the beginning of the last text. */
const SPARE = 136;

/** A place in the arena: `bytes` and `view` are of its segment, `at` is where it begins there. */
export interface ArenaPlace {
  readonly bytes: Uint8Array;
  readonly at: number;
}

/** A growing store of texts. An offset is good until the owner compacts. */
export class Arena {
  readonly #segments: Uint8Array[] = [];
  readonly #views: DataView[] = [];
  /** The next free offset. */
  used = 0;
  /** Bytes that no lease refers to any more. */
  garbage = 0;

  /** Room for `length` bytes and a little more; answers the capacity given. */
  static capacityFor(length: number): number {
    return (length + SLACK + 7) & ~7;
  }

  allocate(capacity: number): number {
    const segment = this.used >>> SEGMENT_SHIFT;
    if (segment >= this.#segments.length || (this.used & SEGMENT_MASK) + capacity + SPARE > SEGMENT_BYTES) {
      const bytes = new Uint8Array(SEGMENT_BYTES);
      this.used = this.#segments.length * SEGMENT_BYTES;
      this.#segments.push(bytes);
      this.#views.push(new DataView(bytes.buffer));
    }
    const offset = this.used;
    this.used += capacity;
    return offset;
  }

  place(offset: number): ArenaPlace {
    return { bytes: this.#segments[offset >>> SEGMENT_SHIFT] ?? EMPTY, at: offset & SEGMENT_MASK };
  }

  /** The view of the segment that holds this offset; within it the place is {@link within}. */
  viewOf(offset: number): DataView {
    return this.#views[offset >>> SEGMENT_SHIFT] ?? EMPTY_VIEW;
  }

  static within(offset: number): number {
    return offset & SEGMENT_MASK;
  }
}

const EMPTY = new Uint8Array(SPARE);
const EMPTY_VIEW = new DataView(EMPTY.buffer);
