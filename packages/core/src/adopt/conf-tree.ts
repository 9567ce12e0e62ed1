import { walkConf, type ConfStatement, type ConfWord } from "../import/conf-statements.js";
import type { Problem } from "../problem.js";

/** A statement of a dhcpd.conf with all that stands in its block, includes in their place. */
export interface ConfNode {
  readonly words: readonly ConfWord[];
  /** `FILE:LINE`. */
  readonly at: string;
  /** The block it stands in; null for the file itself. */
  readonly outer: ConfNode | null;
  /** Null for a statement that ends in a semicolon. */
  readonly body: ConfNode[] | null;
}

/** The text of a file by the name it is included under; null where there is none. Called once for each name. */
export type ConfFiles = (name: string) => string | null;

const INCLUDE_DEPTH_MAX = 16;
const STATEMENTS_MAX = 1_000_000;

/** The whole configuration as a tree whose root stands for the file. Whatever is wrong with its form is a problem with its place, and the rest is read. */
export function readConfTree(main: string, files: ConfFiles): { readonly root: ConfNode; readonly problems: readonly Problem[] } {
  const root: ConfNode = { words: [], at: main, outer: null, body: [] };
  const reader = new TreeReader(root, files);
  reader.read(main, main);
  return { root, problems: reader.problems };
}

class TreeReader {
  readonly problems: Problem[] = [];
  private readonly open: ConfNode[];
  private readonly files: ConfFiles;
  /** Files that are being read, outermost first: one that includes itself would never end. */
  private readonly reading: string[] = [];
  private statements = 0;

  constructor(root: ConfNode, files: ConfFiles) {
    this.open = [root];
    this.files = files;
  }

  read(name: string, at: string): void {
    const text = this.reading.includes(name) ? null : this.files(name);
    if (this.reading.includes(name)) return this.report("include-loop", at, `${shown(name)} includes itself`);
    if (this.reading.length >= INCLUDE_DEPTH_MAX)
      return this.report("include-too-deep", at, `more than ${INCLUDE_DEPTH_MAX} files include each other`);
    if (text === null) return this.report("include-missing", at, `${shown(name)} cannot be read`);
    this.reading.push(name);
    const depth = this.open.length;
    walkConf(text, name, {
      statement: (statement) => this.take(statement, name),
      blockEnd: () => void this.open.pop(),
      problem: (problem) => this.problems.push(problem),
    });
    this.open.length = depth; // an included file that leaves a block open ends with it
    this.reading.pop();
  }

  private take({ line, opensBlock, words }: ConfStatement, file: string): void {
    const at = `${file}:${line}`;
    const outer = this.open.at(-1) ?? null;
    if (++this.statements > STATEMENTS_MAX) {
      if (this.statements === STATEMENTS_MAX + 1) this.report("conf-too-large", at, `more than ${STATEMENTS_MAX} statements`);
      if (opensBlock) this.open.push({ words, at, outer, body: [] });
      return;
    }
    if (!opensBlock && keyword(words[0]) === "include") return this.read(words[1]?.text ?? "", at);
    const node: ConfNode = { words, at, outer, body: opensBlock ? [] : null };
    outer?.body?.push(node);
    if (opensBlock) this.open.push(node);
  }

  private report(code: string, at: string, message: string): void {
    this.problems.push({ code, at, message });
  }
}

/** Keywords have no case; a quoted word is none. */
export function keyword(word: ConfWord | undefined): string {
  return word === undefined || word.quoted ? "" : word.text.toLowerCase();
}

/** The statement on one short line of plain characters. */
export function nodeText({ body, words }: ConfNode): string {
  const text = words.map((word) => (word.quoted ? `"${word.text}"` : word.text)).join(" ");
  return shown(body === null ? text : `${text} { ... }`);
}

function shown(text: string): string {
  const plain = text.replace(/[^\x20-\x7e]/g, "?");
  return plain.length > TEXT_MAX ? `${plain.slice(0, TEXT_MAX)}...` : plain;
}

const TEXT_MAX = 160;
