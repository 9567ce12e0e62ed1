import { assert, BugError } from "../problem.js";
import { asciiClass, AsciiText } from "../text/ascii-text.js";

/**
 * dhcpd.conf(5) as a tree. Indentation, quoting, commas, braces and semicolons exist in this file and nowhere else.
 */
export type Statement =
  | { readonly kind: "plain"; readonly words: readonly Word[] }
  | { readonly kind: "block"; readonly words: readonly Word[]; readonly body: readonly Statement[] }
  /** The first branch that is so; a branch without a condition is always so and stands last. */
  | { readonly kind: "choice"; readonly branches: readonly Branch[] }
  /** One line for people. */
  | { readonly kind: "comment"; readonly text: string }
  /** Reviewed text of an operator, as it is. */
  | { readonly kind: "verbatim"; readonly text: string };

export interface Branch {
  readonly when: Condition | null;
  readonly body: readonly Statement[];
}

/** One test of dhcp-eval(5). */
export type Test =
  | { readonly kind: "exists"; readonly option: string }
  | { readonly kind: "not-exists"; readonly option: string }
  /** The option's octets from this place on begin with the text. */
  | { readonly kind: "text-at"; readonly option: string; readonly from: number; readonly text: string }
  /** The option begins with this 16-bit number. */
  | { readonly kind: "number"; readonly option: string; readonly value: number };

/** Tests joined one way: dhcpd's parser takes no brackets around the first of them, so the two ways never meet in one condition. */
export type Condition = { readonly any: readonly Test[] } | { readonly all: readonly Test[] };

/** A keyword, number or address as it stands; a text that gets quotes; or several of those with commas between. */
export type Word =
  | string
  | { readonly text: string }
  | { readonly list: readonly (string | { readonly text: string })[] }
  | Appended
  | Definition
  | Open;

/** A place for a word, or a text in quotes, that is filled in later; see {@link printedForm}. */
export interface Open {
  readonly open: "word" | "text";
}

/** `=` in the definition of an option. */
export interface Definition {
  readonly definition: true;
}

/** `= ` an option's own value with one octet added. */
export interface Appended {
  readonly option: string;
  readonly octet: number;
}

/** The word between an option and its definition. */
export const IS: Word = { definition: true };

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

export function renderStatements(statements: Iterable<Statement>): string {
  const text = new AsciiText();
  addStatements(text, statements);
  return text.toString();
}

/**
 * What is printed around the open places of a statement, which is one piece more than it has places. Statements of one form that come by the ten
 * thousand are put together from it, with {@link BARE_CHARACTERS} and {@link TEXT_CHARACTERS} only: the same octets for a tenth of the time.
 */
export function printedForm(statement: Statement): readonly Uint8Array[] {
  const text = new AsciiText();
  addStatements(text, [statement]);
  const octets = text.toOctets();
  const places = [...octets.keys()].filter((at) => octets[at] === OPEN_MARK.charCodeAt(0));
  return [...places, octets.length].map((end, n) => octets.slice(n === 0 ? 0 : (places[n - 1] ?? 0) + 1, end));
}

/** Takes them one by one. */
export function addStatements(text: AsciiText, statements: Iterable<Statement>, indent = ""): void {
  for (const statement of statements) {
    if (statement.kind === "choice") renderChoice(text, statement.branches, indent);
    else if (statement.kind === "verbatim") renderVerbatim(text, statement.text);
    else if (statement.kind === "comment") text.add(`${indent}# ${statement.text.replace(/[^\x20-\x7e]/g, "?")}\n`);
    else {
      text.add(indent);
      renderWords(text, statement.words);
      if (statement.kind === "plain") text.add(";\n");
      else renderBody(text, statement.body, indent);
    }
  }
}

function renderWords(text: AsciiText, words: readonly Word[]): void {
  let between = "";
  for (const word of words) {
    text.add(between);
    renderWord(text, word);
    between = " ";
  }
}

function renderBody(text: AsciiText, body: readonly Statement[], indent: string): void {
  text.add(" {\n");
  addStatements(text, body, `${indent}  `);
  text.add(indent);
  text.add("}\n");
}

function renderChoice(text: AsciiText, branches: readonly Branch[], indent: string): void {
  for (const [place, { when, body }] of branches.entries()) {
    assert(when !== null || place === branches.length - 1, "only the last branch may do without a condition");
    text.add(`${indent}${when === null ? "else" : `${place === 0 ? "if" : "elsif"} ${condition(when)}`}`);
    renderBody(text, body, indent);
  }
}

/** Begins and ends on lines of its own, so that dhcpd's line numbers lead back to the operator's. */
function renderVerbatim(text: AsciiText, lines: string): void {
  assert(/^[\x20-\x7e\t\n]*$/.test(lines), "verbatim text that is not ASCII was not reviewed");
  text.add(lines.endsWith("\n") ? lines : `${lines}\n`);
}

function condition(it: Condition): string {
  return "any" in it ? it.any.map(test).join(" or ") : it.all.map(test).join(" and ");
}

function test(it: Test): string {
  switch (it.kind) {
    case "exists":
      return `exists ${bare(it.option)}`;
    case "not-exists":
      return `not exists ${bare(it.option)}`;
    case "text-at":
      return `substring(option ${bare(it.option)}, ${it.from}, ${it.text.length}) = ${quote(it.text)}`;
    case "number":
      return `substring(option ${bare(it.option)}, 0, 2) = ${hexOctet(it.value >> 8)}:${hexOctet(it.value & 255)}`;
  }
}

function hexOctet(value: number): string {
  return value.toString(16).padStart(2, "0");
}

function bare(word: string): string {
  if (!BARE_WORD.test(word)) throw new BugError(`not a bare word of dhcpd.conf: ${word}`);
  return word;
}

function renderWord(text: AsciiText, word: Word): void {
  if (typeof word === "string") {
    text.add(bare(word));
  } else if ("definition" in word) {
    text.add("=");
  } else if ("open" in word) {
    text.add(word.open === "text" ? `"${OPEN_MARK}"` : OPEN_MARK);
  } else if ("octet" in word) {
    text.add(`= concat(option ${bare(word.option)}, ${hexOctet(word.octet)})`);
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
/** A slash stands in IPv6 prefixes; dhcpd has no comments that begin with one. */
const BARE_WORD = /^[A-Za-z0-9:.\-_/]+$/;

/** One or more of these make a bare word. */
export const BARE_CHARACTERS = asciiClass(BARE_WORD);
/** Those that stand in quotes as they are. */
export const TEXT_CHARACTERS = asciiClass(PLAIN_TEXT);

/** Of no statement's own text. */
const OPEN_MARK = "\0";

function utf8Octets(character: string): number[] {
  return (encodeURIComponent(/\p{Surrogate}/u.test(character) ? "\ufffd" : character).match(/%..|./g) ?? []).map((piece) =>
    piece.length === 3 ? Number.parseInt(piece.slice(1), 16) : piece.charCodeAt(0),
  );
}
