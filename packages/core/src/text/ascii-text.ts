/** Characters turned into a string at a time: as many arguments as a call takes without harm. */
const PIECE = 8192;

/**
 * A long ASCII text that grows by small pieces. The pieces are copied into one array of octets, so that a file of 300,000 statements
 * leaves no millions of short-lived strings behind: with those, most of the time went into collecting them.
 */
export class AsciiText {
  private octets = new Uint8Array(1 << 16);
  private length = 0;

  /** Adds characters; each must be ASCII. */
  add(text: string): void {
    const end = this.length + text.length;
    if (end > this.octets.length) this.grow(end);
    for (let at = 0; at < text.length; at++) this.octets[this.length + at] = text.charCodeAt(at);
    this.length = end;
  }

  toString(): string {
    const pieces: string[] = [];
    for (let start = 0; start < this.length; start += PIECE) {
      const octets = this.octets.subarray(start, Math.min(start + PIECE, this.length));
      // `apply` takes an array of octets as it is; spreading it would walk an iterator, 50 times slower.
      pieces.push(String.fromCharCode.apply(null, octets as unknown as number[]));
    }
    return pieces.join("");
  }

  private grow(needed: number): void {
    const larger = new Uint8Array(Math.max(needed, this.octets.length * 2));
    larger.set(this.octets.subarray(0, this.length));
    this.octets = larger;
  }
}
