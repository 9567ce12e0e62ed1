import { idFrom, PACKED_ID_LENGTH } from "./packed-id.js";

const scratch = new DataView(new ArrayBuffer(8));
/** Arguments of one call. */
const UNITS_MAX = 4096;

/** Reads what {@link OctetWriter} wrote, member by member in the same order. */
export class OctetReader {
  private octets: Uint8Array = new Uint8Array(0);
  private from = 0;
  private at = 0;

  /** Begins to read there. */
  start(octets: Uint8Array, at: number): this {
    this.octets = octets;
    this.from = at;
    this.at = at;
    return this;
  }

  /** All that was read since the start. */
  get seen(): Uint8Array {
    return this.octets.subarray(this.from, this.at);
  }

  octet(): number {
    return this.octets[this.at++] ?? 0;
  }

  count(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const octet = this.octet();
      value += (octet & 127) * factor;
      if (octet < 128) return value;
    }
  }

  number(): number {
    for (let i = 0; i < 8; i++) scratch.setUint8(i, this.octet());
    return scratch.getFloat64(0);
  }

  text(): string {
    const head = this.count();
    const length = Math.floor(head / 2);
    if (head % 2 === 0) return this.latin(length);
    let text = "";
    for (let i = 0; i < length; i++) text += String.fromCharCode(this.octet() * 256 + this.octet());
    return text;
  }

  id(): string {
    if (this.octets[this.at] !== 0) {
      const id = idFrom(this.octets, this.at);
      this.at += PACKED_ID_LENGTH;
      return id;
    }
    this.at += 1;
    return this.text();
  }

  private latin(length: number): string {
    let text = "";
    for (const end = this.at + length; this.at < end; ) {
      const part = this.octets.subarray(this.at, Math.min(end, this.at + UNITS_MAX));
      text += String.fromCharCode.apply(null, part as unknown as number[]);
      this.at += part.length;
    }
    return text;
  }
}
