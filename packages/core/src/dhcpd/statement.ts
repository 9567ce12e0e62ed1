import { assert } from "../problem.js";

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

export function renderStatements(statements: readonly Statement[]): string {
  const lines: string[] = [];
  renderInto(lines, statements, "");
  return lines.length === 0 ? "" : `${lines.join("\n")}\n`;
}

function renderInto(lines: string[], statements: readonly Statement[], indent: string): void {
  for (const statement of statements) {
    const words = statement.words.map(renderWord).join(" ");
    if (statement.kind === "plain") {
      lines.push(`${indent}${words};`);
    } else {
      lines.push(`${indent}${words} {`);
      renderInto(lines, statement.body, `${indent}  `);
      lines.push(`${indent}}`);
    }
  }
}

function renderWord(word: Word): string {
  if (typeof word === "string") {
    assert(/^[A-Za-z0-9:.\-_]+$/.test(word), `not a bare word of dhcpd.conf: ${word}`);
    return word;
  }
  if ("text" in word) return quote(word.text);
  assert(word.list.length > 0, "an empty list in dhcpd.conf");
  return word.list.map(renderWord).join(", ");
}

/** As dhcpd's lexer reads strings: printable ASCII as it stands, everything else and `"` and `\` as three octal digits an octet. */
function quote(text: string): string {
  const quoted = text.replace(/[^\x20-\x7e]|["\\]/gu, (character) =>
    Array.from(utf8Octets(character), (octet) => `\\${octet.toString(8).padStart(3, "0")}`).join(""),
  );
  return `"${quoted}"`;
}

function utf8Octets(character: string): number[] {
  return (encodeURIComponent(/\p{Surrogate}/u.test(character) ? "\ufffd" : character).match(/%..|./g) ?? []).map((piece) =>
    piece.length === 3 ? Number.parseInt(piece.slice(1), 16) : piece.charCodeAt(0),
  );
}
