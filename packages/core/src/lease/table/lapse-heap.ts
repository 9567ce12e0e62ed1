/** Ends of leases in use, the earliest first. Entries that no longer hold are dropped when they come up, so that a renewal only adds one. */
export class LapseHeap<Entry> {
  #ends: number[] = [];
  #entries: Entry[] = [];

  get size(): number {
    return this.#ends.length;
  }

  /** `ends` in seconds. */
  push(ends: number, entry: Entry): void {
    let at = this.#ends.length;
    this.#ends.push(ends);
    this.#entries.push(entry);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if ((this.#ends[parent] ?? 0) <= ends) break;
      this.#move(parent, at);
      at = parent;
    }
    this.#put(at, ends, entry);
  }

  /** The earliest entry, or null. */
  first(): { readonly ends: number; readonly entry: Entry } | null {
    const entry = this.#entries[0];
    return entry === undefined ? null : { ends: this.#ends[0] ?? 0, entry };
  }

  removeFirst(): void {
    const ends = this.#ends.pop();
    const entry = this.#entries.pop();
    if (ends === undefined || entry === undefined || this.#ends.length === 0) return;
    const length = this.#ends.length;
    let at = 0;
    for (;;) {
      let child = at * 2 + 1;
      if (child >= length) break;
      if (child + 1 < length && (this.#ends[child + 1] ?? 0) < (this.#ends[child] ?? 0)) child++;
      if ((this.#ends[child] ?? 0) >= ends) break;
      this.#move(child, at);
      at = child;
    }
    this.#put(at, ends, entry);
  }

  clear(): void {
    this.#ends = [];
    this.#entries = [];
  }

  #move(from: number, to: number): void {
    const entry = this.#entries[from];
    if (entry !== undefined) this.#put(to, this.#ends[from] ?? 0, entry);
  }

  #put(at: number, ends: number, entry: Entry): void {
    this.#ends[at] = ends;
    this.#entries[at] = entry;
  }
}
