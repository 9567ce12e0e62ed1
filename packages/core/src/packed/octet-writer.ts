import { packedIdOf } from "./packed-id.js";

const scratch = new DataView(new ArrayBuffer(8));

/** Collects the octets of one row after the other in memory of its own. */
export class OctetWriter {
  private octets = new Uint8Array(256);
  private used = 0;

  /** What was written since the last `restart`; good until the next. */
  get written(): Uint8Array {
    return this.octets.subarray(0, this.used);
  }

  restart(): void {
    this.used = 0;
  }

  octet(value: number): void {
    if (this.used === this.octets.length) this.grow(1);
    this.octets[this.used++] = value;
  }

  /** A whole number from 0 to 2^53 - 1, the shorter the smaller. */
  count(value: number): void {
    let rest = value;
    for (; rest > 127; rest = Math.floor(rest / 128)) this.octet((rest % 128) | 128);
    this.octet(rest);
  }

  number(value: number): void {
    scratch.setFloat64(0, value);
    for (let i = 0; i < 8; i++) this.octet(scratch.getUint8(i));
  }

  /** Any text: an octet a unit where all are below 256, else two. */
  text(text: string): void {
    let wide = 0;
    for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 255) wide = 1;
    this.count(text.length * 2 + wide);
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      if (wide === 1) this.octet(unit >>> 8);
      this.octet(unit & 255);
    }
  }

  /** A text that is probably an id of ours: eleven octets then. */
  id(text: string): void {
    const packed = packedIdOf(text);
    if (packed === null) {
      this.octet(0);
      this.text(text);
    } else for (const octet of packed) this.octet(octet);
  }

  private grow(by: number): void {
    const larger = new Uint8Array((this.octets.length + by) * 2);
    larger.set(this.octets);
    this.octets = larger;
  }
}
