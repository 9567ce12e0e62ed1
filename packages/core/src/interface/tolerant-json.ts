/** Deeper nesting than any program prints is an attack or noise. */
const DEPTH_MAX = 64;

/** What stands for a text that is cut off or no JSON at all. */
export const NO_JSON = Symbol("no JSON");

/**
 * Reads JSON as some releases of iproute2 print it: members without a value (`{"broadcast","dst":"10.0.0.255"}`: true), keys without a value (null),
 * superfluous commas, raw control characters in strings. Nothing is made up: a text that ends too early is {@link NO_JSON}, as a list that lost its
 * end would look like addresses that are gone.
 */
export function parseTolerantJson(text: string): unknown {
  const reader = new Reader(text);
  try {
    return reader.value(0);
  } catch (error) {
    if (error instanceof CutOff) return NO_JSON;
    throw error;
  }
}

class CutOff extends Error {}

class Reader {
  private at = 0;
  private readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  value(depth: number): unknown {
    if (depth > DEPTH_MAX) throw new CutOff();
    const c = this.skip(/[\s,]*/y);
    if (c === "{") return this.object(depth);
    if (c === "[") return this.list(depth);
    return c === '"' ? this.string() : this.word();
  }

  private object(depth: number): Record<string, unknown> {
    const members: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
    this.at++;
    for (;;) {
      const c = this.skip(/[\s,]*/y);
      if (c === "}") break;
      const key = c === '"' ? this.string() : String(this.word());
      if (this.skip(/\s*/y) !== ":") {
        members[key] = true;
        continue;
      }
      this.at++;
      const next = this.skip(/\s*/y);
      members[key] = next === "," || next === "}" ? null : this.value(depth + 1);
    }
    this.at++;
    return { ...members };
  }

  private list(depth: number): unknown[] {
    const elements: unknown[] = [];
    this.at++;
    while (this.skip(/[\s,]*/y) !== "]") elements.push(this.value(depth + 1));
    this.at++;
    return elements;
  }

  private string(): string {
    const [raw] = this.take(/"(?:[^"\\]|\\.)*"/sy);
    const strict = raw.replace(/[\u0000-\u001f]/g, " ").replace(/\\(u[0-9a-fA-F]{4}|.)/gs, repairedEscape);
    return JSON.parse(strict) as string;
  }

  /** `true`, `false`, `null`, a number, or a word that was never quoted. */
  private word(): unknown {
    const [raw] = this.take(/[^\s,:"{}[\]]+/y);
    if (raw === "true" || raw === "false") return raw === "true";
    if (raw === "null") return null;
    return /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(raw) ? Number(raw) : raw;
  }

  /** Goes past these and answers the character that follows. */
  private skip(pattern: RegExp): string {
    this.take(pattern);
    const c = this.text[this.at];
    if (c === undefined) throw new CutOff();
    return c;
  }

  private take(pattern: RegExp): RegExpExecArray {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (found === null) throw new CutOff();
    this.at = pattern.lastIndex;
    return found;
  }
}

/** A backslash before anything that JSON does not know stands for itself. */
function repairedEscape(escape: string, escaped: string): string {
  return /^(?:["\\/bfnrt]|u[0-9a-fA-F]{4})$/.test(escaped) ? escape : `\\\\${escaped}`;
}
