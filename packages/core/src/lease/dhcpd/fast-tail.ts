import { wordOf } from "./fast-words.js";
import { BACKSLASH, CLOSE_BRACE, NEWLINE, QUOTE, SEMICOLON } from "./tokens.js";

const W_HA = wordOf("  ha");
const W_RDWA = wordOf("rdwa");
const W_RE_E = wordOf("re e");
const W_THER = wordOf("ther");
const W_NET = wordOf("net ");
const W_UI = wordOf("  ui");
const W_CL = wordOf("  cl");
const W_IENT = wordOf("ient");
const W_HOS = wordOf("-hos");
const W_TNAM = wordOf("tnam");
const W_SE = wordOf("  se");
const W_OP = wordOf("  op");
const W_TION = wordOf("tion");
const W_AGE = wordOf(" age");
const END_OF_LINE = SEMICOLON | (NEWLINE << 8);

const PLAIN = 0;
const END = 1;
const ESCAPE = 2;
/** Inside strings: 0 plain, 1 the closing quote, 2 a backslash, 3 what only the general reader may judge. */
const IN_STRING = new Uint8Array(256).fill(3, 0, 0x20).fill(3, 0x7f);
IN_STRING[QUOTE] = END;
IN_STRING[BACKSLASH] = ESCAPE;

const NAME = new Uint8Array(256);
const HEX = new Uint8Array(256);
for (const character of "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") NAME[character.charCodeAt(0)] = 1;
for (const character of "0123456789abcdefABCDEF") HEX[character.charCodeAt(0)] = 1;
const HEX_LIST = HEX.slice();
HEX_LIST[0x3a] = 1;

const SEEN_HARDWARE = 1;
const SEEN_UID = 2;
const SEEN_HOSTNAME = 4;

/**
 * What follows times and states in dhcpd's own layout: hardware, uid, set, agent options and the name, one statement a line. It is only checked
 * here, so that nothing in it could mean anything else to the general reader; what it says is read when somebody asks.
 */
export class FastTail {
  lines = 0;

  /** The place of the closing brace at the beginning of a line, or -1 where anything is not in this form. */
  check(view: DataView, from: number, limit: number): number {
    let at = from;
    let seen = 0;
    this.lines = 0;
    while (at < limit) {
      const kind = view.getInt32(at, true);
      if ((kind & 255) === CLOSE_BRACE) return at;
      this.lines++;
      let bit = 0;
      if (kind === W_HA) {
        bit = SEEN_HARDWARE;
        at = hardware(view, at);
      } else if (kind === W_UI) {
        bit = SEEN_UID;
        at = view.getInt32(at + 3, true) === W_ID_QUOTE ? string(view, at + 7, limit) : -1;
      } else if (kind === W_CL) {
        bit = SEEN_HOSTNAME;
        at = hostname(view, at, limit);
      } else if (kind === W_SE) {
        at = setting(view, at, limit);
      } else {
        at = kind === W_OP ? option(view, at, limit) : -1;
      }
      if (at < 0 || (seen & bit) !== 0) return -1;
      seen |= bit;
    }
    return -1;
  }
}

const W_ID_QUOTE = wordOf('id "');

function hardware(view: DataView, at: number): number {
  if (view.getInt32(at + 4, true) !== W_RDWA || view.getInt32(at + 8, true) !== W_RE_E) return -1;
  if (view.getInt32(at + 12, true) !== W_THER || view.getInt32(at + 16, true) !== W_NET) return -1;
  let valid = 1;
  for (let octet = at + 20; octet < at + 38; octet += 3) {
    valid &= (HEX[view.getUint8(octet)] ?? 0) & (HEX[view.getUint8(octet + 1)] ?? 0);
  }
  for (let colon = at + 22; colon < at + 37; colon += 3) if (view.getUint8(colon) !== 0x3a) valid = 0;
  return valid === 1 && view.getInt16(at + 37, true) === END_OF_LINE ? at + 39 : -1;
}

function hostname(view: DataView, at: number, limit: number): number {
  if (view.getInt32(at + 4, true) !== W_IENT || view.getInt32(at + 8, true) !== W_HOS) return -1;
  if (view.getInt32(at + 12, true) !== W_TNAM || view.getInt16(at + 16, true) !== W_E_BLANK) return -1;
  return view.getUint8(at + 18) === QUOTE ? string(view, at + 19, limit) : -1;
}

const W_E_BLANK = wordOf("e ");

/** From behind the opening quote to behind the line's end. */
function string(view: DataView, from: number, limit: number): number {
  let at = from;
  for (;;) {
    let mark = IN_STRING[view.getUint8(at)];
    while (mark === PLAIN && at < limit) mark = IN_STRING[view.getUint8(++at)];
    if (mark === END) return view.getInt16(at + 1, true) === END_OF_LINE ? at + 3 : -1;
    if (mark !== ESCAPE) return -1;
    const width = escapeWidth(view, at);
    if (width < 0) return -1;
    at += width;
  }
}

/** The escapes that dhcpd writes: a quote, a backslash, and three octal digits up to `\377`. */
function escapeWidth(view: DataView, at: number): number {
  const octet = view.getUint8(at + 1);
  if (octet === QUOTE || octet === BACKSLASH) return 2;
  const second = view.getUint8(at + 2);
  const third = view.getUint8(at + 3);
  return octet >= 0x30 && octet <= 0x33 && (second & 0xf8) === 0x30 && (third & 0xf8) === 0x30 ? 4 : -1;
}

/** `  set NAME = "...";` or `  set NAME = %N;` */
function setting(view: DataView, from: number, limit: number): number {
  if (view.getInt16(from + 4, true) !== W_T_BLANK) return -1;
  let at = from + 6;
  while (NAME[view.getUint8(at)] === 1 && at < limit) at++;
  if (at === from + 6 || view.getInt16(at, true) !== W_BLANK_EQUALS || view.getUint8(at + 2) !== 0x20) return -1;
  const value = view.getUint8(at + 3);
  if (value === QUOTE) return string(view, at + 4, limit);
  return value === 0x25 ? characters(view, at + 4, { limit, allowed: HEX }) : -1;
}

const W_T_BLANK = wordOf("t ");
const W_BLANK_EQUALS = wordOf(" =");

/** `  option agent.NAME "...";` or octets or a number. */
function option(view: DataView, from: number, limit: number): number {
  if (view.getInt32(from + 4, true) !== W_TION || view.getInt32(from + 8, true) !== W_AGE) return -1;
  if (view.getInt16(from + 12, true) !== W_NT || view.getUint8(from + 14) !== 0x2e) return -1;
  let at = from + 15;
  while (NAME[view.getUint8(at)] === 1 && at < limit) at++;
  if (at === from + 15 || view.getUint8(at) !== 0x20) return -1;
  return view.getUint8(at + 1) === QUOTE ? string(view, at + 2, limit) : characters(view, at + 1, { limit, allowed: HEX_LIST });
}

const W_NT = wordOf("nt");

function characters(
  view: DataView,
  from: number,
  { limit, allowed }: { readonly limit: number; readonly allowed: Uint8Array },
): number {
  let at = from;
  while (allowed[view.getUint8(at)] === 1 && at < limit) at++;
  return at > from && view.getInt16(at, true) === END_OF_LINE ? at + 2 : -1;
}
