import { LapseHeap } from "./lapse-heap.js";

/** What the clock needs to know of the leases: which end when, and which would come back if it were set back. */
export interface Endings<Entry> {
  /** End in seconds while the entry is in use for a bounded time, else null. */
  endOf(entry: Entry): number | null;
  all(): Iterable<Entry>;
}

/** Tells which leases cease to be in use by the clock alone, with one heap and without looking at the others. */
export class LapseClock<Entry> {
  readonly #endings: Endings<Entry>;
  readonly #heap = new LapseHeap<Entry>();
  #now: number | null = null;
  #flipped = new Set<Entry>();

  constructor(endings: Endings<Entry>) {
    this.#endings = endings;
  }

  /** A lease changed: its new end is watched, its old one is dropped when it comes up. */
  changed(entry: Entry): void {
    if (this.#now !== null) this.#watch(entry, this.#now);
  }

  /** The earliest end (ms) after `now`, or null. */
  next(now: number): number | null {
    this.#advance(now);
    this.#dropStale();
    const first = this.#heap.first();
    return first === null ? null : first.ends * 1000;
  }

  take(now: number): Entry[] {
    this.#advance(now);
    const taken = [...this.#flipped];
    this.#flipped = new Set();
    return taken;
  }

  #watch(entry: Entry, now: number): void {
    const ends = this.#endings.endOf(entry);
    if (ends !== null && ends * 1000 > now) this.#heap.push(ends, entry);
  }

  #advance(now: number): void {
    const before = this.#now;
    this.#now = now;
    if (before === null || now < before) this.#rebuild(now, before);
    for (let first = this.#heap.first(); first !== null && first.ends * 1000 <= now; first = this.#heap.first()) {
      this.#heap.removeFirst();
      if (this.#endings.endOf(first.entry) === first.ends) this.#flipped.add(first.entry);
    }
  }

  /** The first look, or the clock was set back: leases that ended between both times are in use again. */
  #rebuild(now: number, before: number | null): void {
    this.#heap.clear();
    for (const entry of this.#endings.all()) {
      const ends = this.#endings.endOf(entry);
      if (ends === null || ends * 1000 <= now) continue;
      this.#heap.push(ends, entry);
      if (before !== null && ends * 1000 <= before) this.#flipped.add(entry);
    }
  }

  #dropStale(): void {
    for (let first = this.#heap.first(); first !== null; first = this.#heap.first()) {
      if (this.#endings.endOf(first.entry) === first.ends) return;
      this.#heap.removeFirst();
    }
  }

  /** Entries in the heap: more than twice the leases means that most are stale. */
  get watched(): number {
    return this.#heap.size;
  }

  /** Starts the heap anew when stale entries outnumber the leases. */
  trim(leases: number): void {
    if (this.#now !== null && this.#heap.size > 2 * leases + 64) this.#rebuild(this.#now, null);
  }
}
