import { wordOf } from "./fast-words.js";
import { daysFromDate, TIME_NEVER } from "./time-value.js";

const BLANK_NEV = wordOf(" nev");
const ER_END = wordOf("er;\n");
/** Hours that were met lately: three numbers each, the text as two and its seconds. A file is written in the order of time, so few are needed. */
const HOURS = 256;

/** Reads the times of dhcpd's own layout, ` W YYYY/MM/DD HH:MM:SS;` and a newline, four loads each; anything else is left to the general reader. */
export class FastTime {
  /** The time of the last successful {@link read}, as stored. */
  value = 0;
  readonly #hours = new Float64Array(HOURS * 3);

  /** `at` is the place of the blank before the weekday; answers where the next line begins, or -1. */
  read(view: DataView, at: number): number {
    const seconds = this.date(view, at);
    if (seconds < 0) return this.#never(view, at);
    this.value = seconds;
    return at + 24;
  }

  /** Seconds since 1970 of the 24 octets from the blank on, or -1 for anything else. */
  date(view: DataView, at: number): number {
    const minutes = view.getInt32(at + 16, true);
    const seconds = view.getInt32(at + 20, true);
    // `:MM:`, and `SS;` with its newline, where the lower halves of the digits are left open. A digit that is too high for its place leaves 0x30 to 0x3f when this much is added to it: 6 where 9 is allowed, 10 where 5 is.
    if ((minutes & 0xfff0f0ff) !== 0x3a30303a || ((minutes + 0x00060a00) & 0x00f0f000) !== 0x00303000) return -1;
    if ((seconds & 0xfffff0f0) !== 0x0a3b3030 || ((seconds + 0x060a) & 0xf0f0) !== 0x3030) return -1;
    const hour = this.#hour(view, at);
    if (hour < 0) return -1;
    return hour + ((minutes >> 8) & 15) * 600 + ((minutes >> 16) & 15) * 60 + (seconds & 15) * 10 + ((seconds >> 8) & 15);
  }

  #never(view: DataView, at: number): number {
    if (view.getInt32(at, true) !== BLANK_NEV || view.getInt32(at + 4, true) !== ER_END) return -1;
    this.value = TIME_NEVER | 0;
    return at + 8;
  }

  /** Seconds at the beginning of the hour, or -1. The kept text is printable ASCII, so that equal numbers are equal bytes. */
  #hour(view: DataView, at: number): number {
    const first = view.getFloat64(at, true);
    const second = view.getFloat64(at + 8, true);
    const digits = view.getInt32(at + 12, true);
    const entry = (((digits & 3) << 6) | (((digits >> 16) & 3) << 4) | ((digits >> 24) & 15)) * 3;
    const hours = this.#hours;
    return hours[entry] === first && hours[entry + 1] === second ? (hours[entry + 2] ?? -1) : this.#learn(view, at, entry);
  }

  #learn(view: DataView, at: number, entry: number): number {
    const seconds = secondsOfHour(String.fromCharCode(...new Uint8Array(view.buffer, view.byteOffset + at, 16)));
    if (seconds < 0) return -1;
    this.#hours[entry] = view.getFloat64(at, true);
    this.#hours[entry + 1] = view.getFloat64(at + 8, true);
    this.#hours[entry + 2] = seconds;
    return seconds;
  }
}

/** 1970 to 2037: what fits the positive half of a word. */
function secondsOfHour(text: string): number {
  const date = /^ \d (\d{4})\/(\d\d)\/(\d\d) (\d\d)$/.exec(text);
  if (date === null) return -1;
  const [year = 0, month = 0, day = 0, hour = 0] = date.slice(1).map(Number);
  if (year < 1970 || year > 2037 || month < 1 || month > 12 || day < 1 || day > 31 || hour > 23) return -1;
  return daysFromDate(year, month, day) * 86_400 + hour * 3600;
}
