/** A token of dhcpd.conf(5): a word, a quoted string without its quotes, or one of `;{},`. */
export interface ConfToken {
  readonly kind: "word" | "string" | "mark" | "open-string" | "end";
  readonly text: string;
  readonly line: number;
}

const MARKS = ";{},=";
/** Characters of one token, as dhcpd's own buffer has them. */
const TOKEN_CHARACTERS_MAX = 1500;
const ESCAPES: Readonly<Record<string, string>> = { t: "\t", r: "\r", n: "\n", b: "\b" };

/** Cuts the text of a dhcpd.conf into tokens as dhcpd's lexer (conflex.c) does: free form, `#` to the end of the line, strings with escapes. */
export class ConfLexer {
  private readonly text: string;
  private at: number;
  private line = 1;

  constructor(text: string) {
    this.text = text;
    this.at = text.startsWith("\ufeff") ? 1 : 0;
  }

  next(): ConfToken {
    this.skipBlank();
    const { at, line, text } = this;
    const character = text[at];
    if (character === undefined) return { kind: "end", text: "", line };
    if (character === '"') return this.string(line);
    if (MARKS.includes(character)) {
      this.at = at + 1;
      return { kind: "mark", text: character, line };
    }
    let end = at;
    while (end < text.length && !isBlank(text[end]) && text[end] !== '"' && text[end] !== "#" && !MARKS.includes(text[end] ?? ""))
      end++;
    this.at = end;
    return { kind: "word", text: text.slice(at, Math.min(end, at + TOKEN_CHARACTERS_MAX)), line };
  }

  private skipBlank(): void {
    const { text } = this;
    for (; this.at < text.length; this.at++) {
      const character = text[this.at];
      if (character === "#") while (this.at + 1 < text.length && text[this.at + 1] !== "\n") this.at++;
      else if (character === "\n") this.line++;
      else if (!isBlank(character)) return;
    }
  }

  /** To the closing quote. One that never closes ends with its line, so that it costs no more than itself. */
  private string(line: number): ConfToken {
    const { text } = this;
    let value = "";
    for (let at = this.at + 1; at < text.length && text[at] !== "\n"; at++) {
      const character = text[at] ?? "";
      if (character === '"') {
        this.at = at + 1;
        return { kind: "string", text: value.slice(0, TOKEN_CHARACTERS_MAX), line };
      }
      if (character !== "\\") {
        value += character;
        continue;
      }
      const escape = readEscape(text, at + 1);
      value += escape.text;
      at = escape.next - 1;
    }
    const end = text.indexOf("\n", this.at);
    this.at = end < 0 ? text.length : end;
    return { kind: "open-string", text: value.slice(0, TOKEN_CHARACTERS_MAX), line };
  }
}

/** What stands behind a backslash: three octal digits, `x` and two hexadecimal ones, a letter for a control character, or itself. */
function readEscape(text: string, at: number): { readonly text: string; readonly next: number } {
  const octal = /^[0-7]{3}/.exec(text.slice(at, at + 3));
  if (octal !== null) return { text: String.fromCharCode(Number.parseInt(octal[0], 8) & 0xff), next: at + 3 };
  const hex = /^x([0-9a-f]{2})/i.exec(text.slice(at, at + 3));
  if (hex?.[1] !== undefined) return { text: String.fromCharCode(Number.parseInt(hex[1], 16)), next: at + 3 };
  const character = text[at] ?? "";
  if (character === "\n") return { text: "", next: at };
  return { text: ESCAPES[character] ?? character, next: at + 1 };
}

function isBlank(character: string | undefined): boolean {
  return character !== undefined && (character <= " " || character === "\u00a0");
}
