import { assert, BugError } from "../problem.js";
import { AsciiText } from "../text/ascii-text.js";

/**
 * dhcpd.conf(5) as a tree. Indentation, quoting, commas, braces and semicolons exist in this file and nowhere else.
 */
export type Statement =
  | { readonly kind: "plain"; readonly words: readonly Word[] }
  | { readonly kind: "block"; readonly words: readonly Word[]; readonly body: readonly Statement[] };

/** A keyword, number or address as it stands; a text that gets quotes; or several of those with commas between. */
export type Word = string | { readonly text: string } | { readonly list: readonly (string | { readonly text: string })[] };

export function plain(...words: readonly Word[]): Statement {
  return { kind: "plain", words };
}

export function block(words: readonly Word[], body: readonly Statement[]): Statement {
  return { kind: "block", words, body };
}

/** `NAME a, b;`, or nothing when the list is empty: dhcpd refuses an option without a value. */
export function listOption(name: string, values: readonly (string | { readonly text: string })[]): Statement[] {
  return values.length === 0 ? [] : [plain("option", name, { list: values })];
}

/** Takes them one by one: 50,000 hosts are never all there as statements. */
export function renderStatements(statements: Iterable<Statement>): string {
  const text = new AsciiText();
  renderInto(text, statements, "");
  return text.toString();
}

function renderInto(text: AsciiText, statements: Iterable<Statement>, indent: string): void {
  for (const statement of statements) {
    text.add(indent);
    let between = "";
    for (const word of statement.words) {
      text.add(between);
      renderWord(text, word);
      between = " ";
    }
    if (statement.kind === "plain") {
      text.add(";\n");
    } else {
      text.add(" {\n");
      renderInto(text, statement.body, `${indent}  `);
      text.add(indent);
      text.add("}\n");
    }
  }
}

function renderWord(text: AsciiText, word: Word): void {
  if (typeof word === "string") {
    if (!BARE_WORD.test(word)) throw new BugError(`not a bare word of dhcpd.conf: ${word}`);
    text.add(word);
  } else if ("text" in word) {
    text.add(quote(word.text));
  } else {
    assert(word.list.length > 0, "an empty list in dhcpd.conf");
    for (const [place, member] of word.list.entries()) {
      if (place > 0) text.add(", ");
      renderWord(text, member);
    }
  }
}

/** As dhcpd's lexer reads strings: printable ASCII as it stands, everything else and `"` and `\` as three octal digits an octet. */
function quote(text: string): string {
  if (PLAIN_TEXT.test(text)) return `"${text}"`;
  const quoted = text.replace(/[^\x20-\x7e]|["\\]/gu, (character) =>
    Array.from(utf8Octets(character), (octet) => `\\${octet.toString(8).padStart(3, "0")}`).join(""),
  );
  return `"${quoted}"`;
}

const PLAIN_TEXT = /^[\x20-\x21\x23-\x5b\x5d-\x7e]*$/;
const BARE_WORD = /^[A-Za-z0-9:.\-_]+$/;

function utf8Octets(character: string): number[] {
  return (encodeURIComponent(/\p{Surrogate}/u.test(character) ? "\ufffd" : character).match(/%..|./g) ?? []).map((piece) =>
    piece.length === 3 ? Number.parseInt(piece.slice(1), 16) : piece.charCodeAt(0),
  );
}
