/** Characters turned into a string at a time: as many arguments as a call takes without harm. */
const PIECE = 8192;

/** Of each ASCII character, whether it may stand somewhere: 1 or 0. */
export type AsciiClass = Uint8Array;

/** The characters that match. */
export function asciiClass(pattern: RegExp): AsciiClass {
  return Uint8Array.from({ length: 128 }, (_, code) => (pattern.test(String.fromCharCode(code)) ? 1 : 0));
}

/**
 * A long ASCII text that grows by small pieces. The pieces are copied into one array of octets, so that a file of 300,000 statements
 * leaves no millions of short-lived strings behind: with those, most of the time went into collecting them.
 */
export class AsciiText {
  private octets: Uint8Array;
  private length = 0;

  /** `room`: octets that the text will about have. */
  constructor(room = 0) {
    this.octets = new Uint8Array(Math.max(room, 1 << 10));
  }

  /** Octets so far. */
  get size(): number {
    return this.length;
  }

  /** Takes away what was added since the text had this size. */
  cutTo(size: number): void {
    this.length = Math.min(size, this.length);
  }

  /** Adds characters; each must be ASCII. */
  add(text: string): void {
    const octets = this.withRoom(text.length);
    const start = this.length;
    for (let at = 0; at < text.length; at++) octets[start + at] = text.charCodeAt(at);
    this.length = start + text.length;
  }

  addOctets(added: Uint8Array): void {
    const octets = this.withRoom(added.length);
    const start = this.length;
    // A loop: for the few octets of a statement, `set` costs more in the call than in the copying.
    for (let at = 0; at < added.length; at++) octets[start + at] = added[at] ?? 0;
    this.length = start + added.length;
  }

  /** Adds the first `end` characters if all of them are of the class; otherwise nothing, and answers false. */
  addOnly(text: string, allowed: AsciiClass, end = text.length): boolean {
    const octets = this.withRoom(end);
    const start = this.length;
    let all = 1;
    for (let at = 0; at < end; at++) {
      const code = text.charCodeAt(at);
      octets[start + at] = code;
      all &= allowed[code] ?? 0;
    }
    if (all === 0) return false;
    this.length = start + end;
    return true;
  }

  /** The same for all of a text but one character, which is left out wherever it stands. */
  addWithout(text: string, left: number, allowed: AsciiClass): boolean {
    const octets = this.withRoom(text.length);
    let end = this.length;
    let all = 1;
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === left) continue;
      octets[end++] = code;
      all &= allowed[code] ?? 0;
    }
    if (all === 0) return false;
    this.length = end;
    return true;
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

  /** The text as a file has it: 30 times quicker than the string. Nothing may be added afterwards. */
  toOctets(): Uint8Array {
    const octets = this.octets.subarray(0, this.length);
    // A view keeps the whole array alive.
    return this.length < this.octets.length / 2 ? octets.slice() : octets;
  }

  private withRoom(more: number): Uint8Array {
    const needed = this.length + more;
    if (needed > this.octets.length) {
      const larger = new Uint8Array(Math.max(needed, this.octets.length * 2));
      larger.set(this.octets.subarray(0, this.length));
      this.octets = larger;
    }
    return this.octets;
  }
}
