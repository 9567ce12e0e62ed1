import { BITS_BOOTP, BITS_NEXT_SHIFT, BITS_RESERVED, BITS_REWIND_SHIFT, stateBits } from "../table/lease4-rows.js";
import { doublesOf, wordOf } from "./fast-words.js";
import { NEWLINE } from "./tokens.js";

const W_BI = wordOf("  bi");
const W_NE = wordOf("  ne");
const W_RE = wordOf("  re");
const W_DY = wordOf("  dy");
const W_NDIN = wordOf("ndin");
const W_G_ST = wordOf("g st");
const W_ATE = wordOf("ate ");
const W_XT_B = wordOf("xt b");
const W_WIND = wordOf("wind");
const W_BLANK_B = wordOf(" b");
const W_INDI = wordOf("indi");
const W_NG_S = wordOf("ng s");
const W_TATE = wordOf("tate");
const W_SERV = wordOf("serv");
const W_ED = wordOf("ed;\n");
const W_NAMI = wordOf("nami");
const W_C_BO = wordOf("c-bo");
const W_OTP = wordOf("otp;");
const W_ACTI = wordOf("acti");
const W_VE = wordOf("ve;\n");
const W_FREE = wordOf("free");
const W_END = wordOf(";\n");
const W_EXPI = wordOf("expi");
const W_RED = wordOf("red;");
const W_RELE = wordOf("rele");
const W_ASED = wordOf("ased");
const W_ABAN = wordOf("aban");
const W_DONE = wordOf("done");
const W_D_END = wordOf("d;\n");
const W_RESE = wordOf("rese");
const W_T_END = wordOf("t;\n");
const W_BACK = wordOf("back");
const W_UP_END = wordOf("up;\n");
const ACTIVE = stateBits("active");
const FREE = stateBits("free");
const THREE_BYTES = 0xffffff;

/** The three lines that almost every block of a server without failover has, compared eight bytes at a time. */
const USUAL = doublesOf("  binding state active;\n  next binding state free;\n  rewind binding state free;\n");
export const USUAL_LENGTH = USUAL.length * 8;
export const USUAL_BITS = ACTIVE | (FREE << BITS_NEXT_SHIFT) | (FREE << BITS_REWIND_SHIFT);
/** Bits of `#seen` for the three kinds of state lines; the flags have their own bits. */
const ALL_STATES = 7;

/** Reads the lines of states and flags in dhcpd's own layout. */
export class FastStates {
  /** Of the last {@link read}: the bits of the row, and the number of lines. */
  bits = 0;
  lines = 0;
  #seen = 0;

  /** Answers where a line of another kind begins, or one that stands there a second time. */
  read(view: DataView, from: number): number {
    let at = from;
    this.bits = 0;
    this.lines = 0;
    this.#seen = 0;
    if (isUsual(view, at)) {
      this.bits = USUAL_BITS;
      this.lines = 3;
      this.#seen = ALL_STATES;
      at += USUAL_LENGTH;
    }
    for (let next = this.#line(view, at); next > 0; next = this.#line(view, at)) {
      at = next;
      this.lines++;
    }
    return at;
  }

  /** One line of states or flags; answers where the next begins, or -1 for a line of another kind. */
  #line(view: DataView, at: number): number {
    const rest = view.getInt32(at + 4, true);
    switch (view.getInt32(at, true)) {
      case W_BI:
        if (rest !== W_NDIN || view.getInt32(at + 8, true) !== W_G_ST || view.getInt32(at + 12, true) !== W_ATE) return -1;
        return this.#state(view, at + 16, 0);
      case W_NE:
        if (rest !== W_XT_B || !isIndingState(view, at + 8)) return -1;
        return this.#state(view, at + 21, BITS_NEXT_SHIFT);
      case W_RE:
        if (rest === W_SERV) return view.getInt32(at + 8, true) === W_ED ? this.#flag(at + 12, BITS_RESERVED) : -1;
        if (rest !== W_WIND || view.getInt16(at + 8, true) !== W_BLANK_B || !isIndingState(view, at + 10)) return -1;
        return this.#state(view, at + 23, BITS_REWIND_SHIFT);
      case W_DY:
        if (rest !== W_NAMI || view.getInt32(at + 8, true) !== W_C_BO || view.getInt32(at + 12, true) !== W_OTP) return -1;
        return view.getUint8(at + 16) === NEWLINE ? this.#flag(at + 17, BITS_BOOTP) : -1;
      default:
        return -1;
    }
  }

  #state(view: DataView, at: number, shift: number): number {
    const seen = 1 << (shift / 4);
    const rest = view.getInt32(at + 4, true);
    switch (view.getInt32(at, true)) {
      case W_ACTI:
        return rest === W_VE ? this.#setBits(at + 8, ACTIVE << shift, seen) : -1;
      case W_FREE:
        return (rest & 0xffff) === W_END ? this.#setBits(at + 6, FREE << shift, seen) : -1;
      case W_EXPI:
        return rest === W_RED && view.getUint8(at + 8) === NEWLINE
          ? this.#setBits(at + 9, stateBits("expired") << shift, seen)
          : -1;
      case W_RELE:
        return rest === W_ASED && view.getInt16(at + 8, true) === W_END
          ? this.#setBits(at + 10, stateBits("released") << shift, seen)
          : -1;
      case W_ABAN:
        if (rest !== W_DONE || (view.getInt32(at + 8, true) & THREE_BYTES) !== W_D_END) return -1;
        return this.#setBits(at + 11, stateBits("abandoned") << shift, seen);
      case W_RESE:
        return (rest & THREE_BYTES) === W_T_END ? this.#setBits(at + 7, stateBits("reset") << shift, seen) : -1;
      case W_BACK:
        return rest === W_UP_END ? this.#setBits(at + 8, stateBits("backup") << shift, seen) : -1;
      default:
        return -1;
    }
  }

  /** A second line of one kind is for the general reader, which complains. */
  #setBits(next: number, bits: number, seen: number): number {
    if ((this.#seen & seen) !== 0) return -1;
    this.#seen |= seen;
    this.bits |= bits;
    return next;
  }

  #flag(next: number, bit: number): number {
    return this.#setBits(next, bit, bit);
  }
}

/** Each piece in a constant of its own: as a loop over {@link USUAL} it takes twice the time, and nearly every block comes here. */
const [U0, U1, U2, U3, U4, U5, U6, U7, U8, U9] = USUAL;

export function isUsual(view: DataView, at: number): boolean {
  return (
    view.getFloat64(at, true) === U0 &&
    view.getFloat64(at + 8, true) === U1 &&
    view.getFloat64(at + 16, true) === U2 &&
    view.getFloat64(at + 24, true) === U3 &&
    view.getFloat64(at + 32, true) === U4 &&
    view.getFloat64(at + 40, true) === U5 &&
    view.getFloat64(at + 48, true) === U6 &&
    view.getFloat64(at + 56, true) === U7 &&
    view.getFloat64(at + 64, true) === U8 &&
    view.getFloat64(at + 72, true) === U9
  );
}

/** `inding state ` of `next binding state` and `rewind binding state`. */
function isIndingState(view: DataView, at: number): boolean {
  if (view.getInt32(at, true) !== W_INDI || view.getInt32(at + 4, true) !== W_NG_S) return false;
  return view.getInt32(at + 8, true) === W_TATE && view.getUint8(at + 12) === 0x20;
}
