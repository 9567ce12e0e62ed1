import type { Problem } from "../problem.js";

/**
 * Words that may not begin a statement of an operator's snippet. They declare what our review must know of (addresses, hosts, networks), are set by
 * us, or reach outside the subnet's block.
 */
const FORBIDDEN: ReadonlyMap<string, string> = new Map([
  ...["range", "range6", "prefix6", "pool", "pool6", "fixed-address", "fixed-address6", "fixed-prefix6"].map(
    (word) => [word, "addresses are given by the ledger alone"] as const,
  ),
  ...["host", "group", "subnet", "subnet6", "shared-network", "subclass", "class"].map(
    (word) => [word, "it declares more than options of this subnet"] as const,
  ),
  ...["failover", "include", "key", "zone", "authoritative", "not", "hardware", "interface"].map(
    (word) => [word, "it does not belong in a subnet's block here"] as const,
  ),
  ...["on", "execute", "log", "add", "lease", "omapi-port", "omapi-key"].map(
    (word) => [word, "it makes dhcpd do more than answer"] as const,
  ),
  ...["deny", "allow", "ignore", "ping-check", "ping-timeout", "server-identifier", "ignore-client-uids"].map(
    (word) => [word, "it decides who is answered, which is set by the mode"] as const,
  ),
  ...["default-lease-time", "min-lease-time", "max-lease-time", "abandon-lease-time", "adaptive-lease-time-threshold"].map(
    (word) => [word, "the ledger must know how long leases last"] as const,
  ),
]);

/** Options whose value is a fact of the network: another value would make machines ask the wrong server or take the wrong mask. */
const FORBIDDEN_OPTIONS = new Set(["dhcp-server-identifier", "subnet-mask", "dhcp-lease-time", "dhcp-message-type", "server-id"]);
const FORBIDDEN_CODES = new Set([1, 51, 53, 54]);

/** What dhcpd's parser would read: a word, a string, one of `{};`, or anything else that stands alone. */
interface Token {
  readonly kind: "word" | "string" | "{" | "}" | ";" | "other";
  readonly text: string;
  /** From 1. */
  readonly line: number;
}

/**
 * Reviews an operator's snippet of one subnet: it must stay inside its block, whatever is in it, and declare nothing that our own review does not see.
 * Whether its statements are any is left to `dhcpd -t`. `at` names the subnet; each place is a line of the snippet.
 */
export function reviewSnippet(snippet: string, at: string): Problem[] {
  const problems: Problem[] = [];
  const add = (code: string, line: number, message: string, remedy = BALANCE): void => {
    problems.push({ code, at: `${at} snippet line ${line}`, message, remedy });
  };
  const odd = oddCharacter(snippet);
  if (odd !== null) {
    add(
      "snippet-characters",
      odd,
      "only printable ASCII, tabs and line ends may stand in a snippet",
      "write others as octal escapes",
    );
    return problems;
  }
  const { tokens, unended } = tokenise(snippet);
  if (unended !== null) {
    add("snippet-unbalanced", unended, "a string begins here and does not end on its line");
    return problems;
  }
  reviewTokens(tokens, add);
  return problems;
}

const BALANCE = "balance its braces and quotes";
const LEAVE_OUT = "leave it out";

type Add = (code: string, line: number, message: string, remedy?: string) => void;

function reviewTokens(tokens: readonly Token[], add: Add): void {
  const open: number[] = [];
  for (const [place, token] of tokens.entries()) {
    const begins = ENDS.has(tokens[place - 1]?.kind ?? ";");
    const word = token.text.toLowerCase();
    const reason = token.kind === "word" && (begins || word === "execute") ? FORBIDDEN.get(word) : undefined;
    if (reason !== undefined) add("snippet-forbidden", token.line, `'${word}' may not stand in a snippet: ${reason}`, LEAVE_OUT);
    // dhcpd -t takes a statement that is one unknown word, and does nothing with it.
    const isAlone =
      begins && token.kind === "word" && tokens[place + 1]?.kind === ";" && reason === undefined && !ALONE.has(word);
    if (isAlone)
      add(
        "snippet-no-statement",
        token.line,
        `'${token.text}' alone is no statement of dhcpd.conf`,
        "complete it, or leave it out",
      );
    if (begins && SETTERS.has(word)) reviewOption(tokens.slice(place, place + 5), add);
    if (token.kind === "{") open.push(token.line);
    if (token.kind === "}" && open.pop() === undefined) {
      add("snippet-unbalanced", token.line, "this brace closes a block that the snippet did not open");
      return;
    }
  }
  const unclosed = open.at(-1);
  const last = tokens.at(-1);
  if (unclosed !== undefined) add("snippet-unbalanced", unclosed, "the block that begins here is not closed");
  else if (last !== undefined && !ENDS.has(last.kind))
    add("snippet-unended", last.line, "the last statement does not end", "end it with ';'");
}

/** The statements of one word that may stand in a snippet, dhcp-eval(5). */
const ALONE: ReadonlySet<string> = new Set(["break"]);

const ENDS: ReadonlySet<Token["kind"]> = new Set([";", "{", "}"]);
const SETTERS = new Set(["option", "supersede", "default", "append", "prepend", "send"]);

/** `option NAME ...`, `supersede NAME ...`, and `option NAME code NUMBER = ...`, which dhcpd takes outside every block only. */
function reviewOption(words: readonly Token[], add: Add): void {
  const [name, code] = words.slice(words[1]?.text.toLowerCase() === "option" ? 2 : 1);
  if (name === undefined) return;
  const plainName = name.text.toLowerCase().replace(/^dhcp6?\./, "");
  if (code?.kind === "word" && code.text.toLowerCase() === "code") {
    const remedy = "set it by its number: option unknown-NUMBER 01:02:...";
    add("snippet-forbidden", name.line, "an option's definition holds for the whole file", remedy);
  }
  const unnamed = /^unknown-(\d+)$/.exec(plainName);
  const taken = FORBIDDEN_OPTIONS.has(plainName) || FORBIDDEN_CODES.has(Number(unnamed?.[1] ?? 0));
  if (taken)
    add(
      "snippet-forbidden",
      name.line,
      `option ${plainName} may not be set in a snippet: it follows from the network`,
      LEAVE_OUT,
    );
}

/** The line of the first character that may not be there, or null. */
function oddCharacter(text: string): number | null {
  const place = text.search(/[^\x20-\x7e\t\n]/);
  return place < 0 ? null : lineOf(text, place);
}

function lineOf(text: string, place: number): number {
  return text.slice(0, place).split("\n").length;
}

/** As dhcpd's lexer (conflex.c): `#` to the end of the line, strings with backslash escapes that may not span lines here. */
function tokenise(text: string): { readonly tokens: readonly Token[]; readonly unended: number | null } {
  const pattern = /#[^\n]*|"(?:[^"\\\n]|\\[^\n])*"|"|[{};]|[A-Za-z0-9._:-]+|\n|[ \t]+|[^]/g;
  const tokens: Token[] = [];
  let line = 1;
  for (const [piece] of text.matchAll(pattern)) {
    if (piece === "\n") line++;
    else if (piece === '"') return { tokens, unended: line };
    else if (piece.startsWith('"')) tokens.push({ kind: "string", text: piece, line });
    else if (piece === "{" || piece === "}" || piece === ";") tokens.push({ kind: piece, text: piece, line });
    else if (/^[A-Za-z0-9]/.test(piece)) tokens.push({ kind: "word", text: piece, line });
    else if (!/^[# \t]/.test(piece)) tokens.push({ kind: "other", text: piece, line });
  }
  return { tokens, unended: null };
}
