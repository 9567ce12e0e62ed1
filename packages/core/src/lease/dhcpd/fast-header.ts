import { wordOf } from "./fast-words.js";

const W_LEAS = wordOf("leas");
const W_E_BLANK = wordOf("e ");
const W_OPEN = wordOf(" {\n");

/** Reads `lease A.B.C.D {` and the newline in dhcpd's own layout. */
export class FastHeader {
  /** The address (32 bits) of the last successful {@link read}. */
  address = 0;

  /** Answers where the next line begins, or -1. */
  read(view: DataView, start: number): number {
    if (view.getInt32(start, true) !== W_LEAS || view.getInt16(start + 4, true) !== W_E_BLANK) return -1;
    let at = start + 6;
    let address = 0;
    for (let left = 3; left >= 0; left--) {
      const word = view.getInt32(at, true);
      const separator = left === 0 ? 0x20 : 0x2e;
      let digits: number;
      // Branches on the number of digits, not arithmetic: the processor guesses them and goes on, where it would wait for a computed place.
      if (((word >> 8) & 255) === separator) {
        digits = ((word & 255) << 16) | 0x3030;
        at += 2;
      } else if (((word >> 16) & 255) === separator) {
        digits = ((word & 0xffff) << 8) | 0x30;
        at += 3;
      } else if (word >>> 24 === separator) {
        digits = word & 0xffffff;
        at += 4;
      } else {
        return -1;
      }
      if ((digits & 0xf0f0f0) !== 0x303030 || ((digits + 0x060606) & 0xf0f0f0) !== 0x303030) return -1;
      const value = (digits & 15) * 100 + ((digits >> 8) & 15) * 10 + ((digits >> 16) & 15);
      if (value > 255) return -1;
      address = (address << 8) | value;
    }
    this.address = address;
    return (view.getInt32(at - 1, true) & 0xffffff) === W_OPEN ? at + 2 : -1;
  }
}
