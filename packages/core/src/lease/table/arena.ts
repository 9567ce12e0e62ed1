/** Room that a text gets beyond its length, so that most later texts of the same lease fit in its place. */
const SLACK = 16;
const START_BYTES = 64 * 1024;

/** One growing run of bytes that holds the texts of all leases. Offsets stay good until {@link Arena.grow} or a compaction by the owner. */
export class Arena {
  bytes = new Uint8Array(START_BYTES);
  view = new DataView(this.bytes.buffer);
  used = 0;
  /** Bytes that no lease refers to any more. */
  garbage = 0;

  /** Room for `length` bytes and a little more; answers the capacity given. */
  static capacityFor(length: number): number {
    return (length + SLACK + 3) & ~3;
  }

  allocate(capacity: number): number {
    // Eight bytes more, for loads that begin at the last text.
    if (this.used + capacity + 8 > this.bytes.length) this.#grow(this.used + capacity + 8);
    const offset = this.used;
    this.used += capacity;
    return offset;
  }

  #grow(needed: number): void {
    // Half as much again: doubling would show in the memory while reading.
    const bytes = new Uint8Array(Math.max(needed, Math.ceil(this.bytes.length * 1.5)));
    bytes.set(this.bytes.subarray(0, this.used));
    this.replace(bytes, this.used);
  }

  replace(bytes: Uint8Array<ArrayBuffer>, used: number): void {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer);
    this.used = used;
  }
}
