import type { LeaseDiagnostic } from "./model.js";

/** Diagnostics kept in full of one code, and of one kind of unknown word; a damaged file must not fill the memory with complaints. */
const KEPT_OF_ONE_CODE = 16;
const KINDS_MAX = 64;

interface Counted {
  kept: number;
  more: number;
  lastLine: number;
}

/** A bounded list: the first of each code in full, of the others only their number. */
export class Diagnostics {
  #list: LeaseDiagnostic[] = [];
  #codes = new Map<string, Counted>();
  #kinds = new Set<string>();

  /** `line` is only asked when the diagnostic is kept, so that counting lines costs nothing for the thousandth one. */
  add(code: string, line: () => number, message: string): void {
    const counted = this.#codes.get(code) ?? { kept: 0, more: 0, lastLine: 0 };
    this.#codes.set(code, counted);
    if (counted.kept < KEPT_OF_ONE_CODE) {
      counted.kept++;
      counted.lastLine = line();
      this.#list.push({ code, line: counted.lastLine, message });
    } else {
      counted.more++;
    }
  }

  /** The same, but only the first time this kind (a word of the file) is met. */
  addKind(code: string, kind: string, line: () => number, message: string): void {
    const key = `${code} ${kind}`;
    if (this.#kinds.has(key) || this.#kinds.size >= KINDS_MAX) return;
    this.#kinds.add(key);
    this.add(code, line, message);
  }

  all(): readonly LeaseDiagnostic[] {
    const more = [...this.#codes].filter(([, counted]) => counted.more > 0);
    return [
      ...this.#list,
      ...more.map(([code, { more: count, lastLine }]) => ({
        code,
        line: lastLine,
        message: `${count} more of this kind after this line`,
      })),
    ];
  }
}

/** Text of the file as it may be shown: printable ASCII only, cut short. */
export function printableAscii(text: string, max = 48): string {
  const shown = text.replace(/[^\x20-\x7e]/g, "?");
  return shown.length > max ? `${shown.slice(0, max)}...` : shown;
}
