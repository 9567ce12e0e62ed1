import { wordOf } from "./fast-words.js";
import { daysFromDate, TIME_NEVER } from "./time-value.js";

const NEVE = wordOf("neve");
const R_SEMICOLON = wordOf("r;");
/** Days that were met lately: four words each (three of text, one of seconds), placed by the last digit of the day of the month. */
const DAYS = 16;

/** Reads the times of dhcpd's own layout, `W YYYY/MM/DD HH:MM:SS;` and a newline, eight loads each; anything else is left to the general reader. */
export class FastTime {
  /** The time of the last successful {@link read}, as stored. */
  value = 0;
  readonly #days = new Int32Array(DAYS * 4);

  /** `at` is the weekday's place; answers where the next line begins, or -1. */
  read(view: DataView, at: number): number {
    const weekday = view.getInt16(at, true);
    if ((weekday & 0xfff0) !== 0x2030 || (weekday & 15) > 9) return this.#never(view, at);
    const hours = view.getInt32(at + 12, true);
    const minutes = view.getInt32(at + 16, true);
    const seconds = view.getInt32(at + 19, true);
    if ((hours & 0xfff0f0ff) !== 0x3a303020 || (minutes & 0x00fff0f0) !== 0x003a3030 || (seconds & 0xfffff0f0) !== 0x0a3b3030)
      return -1;
    const hour = ((hours >> 8) & 15) * 10 + ((hours >> 16) & 15);
    const minuteTens = minutes & 15;
    const minuteOnes = (minutes >> 8) & 15;
    const secondTens = seconds & 15;
    const secondOnes = (seconds >> 8) & 15;
    if (hour > 23 || ((hours >> 16) & 15) > 9 || minuteTens > 5 || minuteOnes > 9 || secondTens > 5 || secondOnes > 9) return -1;
    const day = this.#day(view, at);
    if (day < 0) return -1;
    this.value = day + hour * 3600 + (minuteTens * 10 + minuteOnes) * 60 + secondTens * 10 + secondOnes;
    return at + 23;
  }

  #never(view: DataView, at: number): number {
    if (view.getInt32(at, true) !== NEVE || view.getInt16(at + 4, true) !== R_SEMICOLON || view.getUint8(at + 6) !== 0x0a)
      return -1;
    this.value = TIME_NEVER | 0;
    return at + 7;
  }

  /** Seconds at the beginning of the day, or -1. */
  #day(view: DataView, at: number): number {
    const year = view.getInt32(at + 2, true);
    const month = view.getInt32(at + 6, true);
    const day = view.getInt16(at + 10, true);
    const days = this.#days;
    const entry = ((day >> 8) & (DAYS - 1)) * 4;
    if (days[entry] === year && days[entry + 1] === month && days[entry + 2] === day) return days[entry + 3] ?? -1;
    const seconds = secondsOfDay(view, at);
    if (seconds < 0) return -1;
    days[entry] = year;
    days[entry + 1] = month;
    days[entry + 2] = day;
    days[entry + 3] = seconds;
    return seconds;
  }
}

/** 1970 to 2037: what fits the positive half of a word. */
function secondsOfDay(view: DataView, at: number): number {
  const text = String.fromCharCode(...new Uint8Array(view.buffer, view.byteOffset + at + 2, 10));
  const date = /^(\d{4})\/(\d\d)\/(\d\d)$/.exec(text);
  if (date === null) return -1;
  const [year = 0, month = 0, day = 0] = date.slice(1).map(Number);
  if (year < 1970 || year > 2037 || month < 1 || month > 12 || day < 1 || day > 31) return -1;
  return daysFromDate(year, month, day) * 86_400;
}
