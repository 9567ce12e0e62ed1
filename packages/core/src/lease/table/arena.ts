/** Room that a text gets beyond its length, so that most later texts of the same lease fit in its place. */
const SLACK = 16;
/** Segments of 4 MiB: growing never copies, and the longest text (one declaration, 1 MiB) fits into one. */
const SEGMENT_BYTES = 4 * 1024 * 1024;
/** Places are in units of eight octets: all records begin there, and a place fits a signed word up to 16 GiB. */
const UNIT_SHIFT = 3;
const SEGMENT_SHIFT = 19;
const SEGMENT_UNITS = 1 << SEGMENT_SHIFT;
const SEGMENT_MASK = SEGMENT_UNITS - 1;
/** Loads of eight bytes may begin up to three cache lines behind the beginning of the last record. */
const SPARE = 200;

/** A growing store of records. A place is good until the owner compacts; 0 is none. */
export class Arena {
  readonly #segments: Uint8Array[] = [];
  readonly #views: DataView[] = [];
  /** The next free place. */
  #next = 1;
  /** Octets that no lease refers to any more. */
  garbage = 0;

  /** Room for `length` octets and a little more; answers the capacity given. */
  static capacityFor(length: number): number {
    return (length + SLACK + 7) & ~7;
  }

  /** Octets given out. */
  get used(): number {
    return this.#next * 8;
  }

  /** `octets`: a multiple of eight, at most one declaration and its slack. */
  allocate(octets: number): number {
    const segment = this.#next >>> SEGMENT_SHIFT;
    if (segment >= this.#segments.length || Arena.within(this.#next) + octets + SPARE > SEGMENT_BYTES) {
      const bytes = new Uint8Array(SEGMENT_BYTES);
      this.#next = Math.max(1, this.#segments.length * SEGMENT_UNITS);
      this.#segments.push(bytes);
      this.#views.push(new DataView(bytes.buffer));
    }
    const place = this.#next;
    this.#next += octets >>> UNIT_SHIFT;
    return place;
  }

  bytesOf(place: number): Uint8Array {
    return this.#segments[place >>> SEGMENT_SHIFT] ?? EMPTY;
  }

  viewOf(place: number): DataView {
    return this.#views[place >>> SEGMENT_SHIFT] ?? EMPTY_VIEW;
  }

  /** Where the place lies in {@link bytesOf} and {@link viewOf}. */
  static within(place: number): number {
    return (place & SEGMENT_MASK) << UNIT_SHIFT;
  }
}

const EMPTY = new Uint8Array(SPARE);
const EMPTY_VIEW = new DataView(EMPTY.buffer);
