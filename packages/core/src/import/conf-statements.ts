import type { Problem } from "../problem.js";
import { ConfLexer, type ConfToken } from "./conf-tokens.js";
import { shownText } from "./import-row.js";

/** One statement of a dhcpd.conf: its words in order, and whether a block follows it. `words` keeps what was quoted apart from what was not. */
export interface ConfStatement {
  readonly words: readonly ConfWord[];
  readonly line: number;
  /** The blocks it stands in, outermost first. */
  readonly inside: readonly ConfStatement[];
  readonly opensBlock: boolean;
}

export interface ConfWord {
  readonly text: string;
  readonly quoted: boolean;
}

/** Blocks in blocks; dhcpd itself is done long before. */
const DEPTH_MAX = 64;
const WORDS_MAX = 4096;

export interface ConfVisitor {
  statement(statement: ConfStatement): void;
  /** After the last statement of a block. */
  blockEnd(opened: ConfStatement): void;
  problem(problem: Problem): void;
}

/**
 * Walks through all statements of a dhcpd.conf with their blocks, whatever they mean: what Berth does not know is passed over whole. Problems are of the
 * file's form only, each with its line.
 */
export function walkConf(text: string, file: string, visitor: ConfVisitor): void {
  const lexer = new ConfLexer(text);
  const open: ConfStatement[] = [];
  let words: ConfWord[] = [];
  let line = 1;
  for (;;) {
    const token = lexer.next();
    if (words.length === 0) line = token.line;
    if (token.kind === "end") break;
    const statement = (opensBlock: boolean): ConfStatement => ({ words, line, inside: [...open], opensBlock });
    if (isMark(token, ";")) {
      if (words.length > 0) visitor.statement(statement(false));
      words = [];
    } else if (isMark(token, "{")) {
      if (open.length >= DEPTH_MAX) return visitor.problem(tooDeep(`${file}:${token.line}`));
      const opened = statement(true);
      visitor.statement(opened);
      open.push(opened);
      words = [];
    } else if (isMark(token, "}")) {
      if (words.length > 0) visitor.problem(unfinished(`${file}:${line}`, words));
      words = [];
      const opened = open.pop();
      if (opened === undefined) visitor.problem(strayBrace(`${file}:${token.line}`));
      else visitor.blockEnd(opened);
    } else {
      if (token.kind === "open-string") visitor.problem(openString(`${file}:${token.line}`));
      if (words.length >= WORDS_MAX) return visitor.problem(unfinished(`${file}:${line}`, words));
      words.push({ text: token.text, quoted: token.kind === "string" });
    }
  }
  if (words.length > 0) visitor.problem(unfinished(`${file}:${line}`, words));
  for (const { line: opened } of open) visitor.problem(unclosed(`${file}:${opened}`));
}

function isMark({ kind, text }: ConfToken, mark: string): boolean {
  return kind === "mark" && text === mark;
}

function tooDeep(at: string): Problem {
  return { code: "conf-too-deep", at, message: `more than ${DEPTH_MAX} blocks in each other; the rest was not read` };
}

function unfinished(at: string, words: readonly ConfWord[]): Problem {
  const [first] = words;
  const message = `the statement '${shownText(first?.text ?? "")}' has no end`;
  return { code: "conf-unfinished", at, message, remedy: "end it with a semicolon" };
}

function strayBrace(at: string): Problem {
  return { code: "conf-stray-brace", at, message: "this brace closes nothing", remedy: "run `dhcpd -t -cf` on the file" };
}

function openString(at: string): Problem {
  return { code: "conf-open-string", at, message: "a quote is not closed in its line", remedy: "close it" };
}

function unclosed(at: string): Problem {
  return {
    code: "conf-unclosed",
    at,
    message: "the block that begins here is not closed",
    remedy: "close it, or give the whole file",
  };
}
