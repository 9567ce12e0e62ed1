/** One record of a CSV file, with the line it begins on. */
export interface CsvRecord {
  readonly line: number;
  readonly cells: readonly string[];
  /** The file ended inside quotes, or text follows a closing quote. */
  readonly damaged: boolean;
}

/** Cells of one record; a file that has more is no list of machines. */
const CELLS_MAX = 256;
/** Characters of one record: an unclosed quote must not swallow a whole file before it is told. */
const RECORD_CHARACTERS_MAX = 65_536;

const QUOTE = '"';

/**
 * Reads CSV as RFC 4180 has it, one record after the other: quoted cells may hold separators, line ends and doubled quotes; lines end with LF
 * or CRLF; empty lines are passed over, as are lines that begin with `#`. Nothing is kept of what was read.
 */
export function* csvRecords(text: string, separator: string): Generator<CsvRecord> {
  let at = 0;
  let line = 1;
  while (at < text.length) {
    const record = readRecord(text, at, separator);
    const blank = !record.damaged && record.cells.length === 1 && (record.cells[0] ?? "").trim() === "";
    if (!blank && text[at] !== "#") yield { line, cells: record.cells, damaged: record.damaged };
    line += record.lines;
    at = record.next;
  }
}

interface ReadRecord {
  readonly cells: readonly string[];
  readonly damaged: boolean;
  readonly next: number;
  readonly lines: number;
}

function readRecord(text: string, start: number, separator: string): ReadRecord {
  if (text[start] === "#") return skipLine(text, start, { cells: [""], damaged: false });
  const cells: string[] = [];
  const most = Math.min(text.length, start + RECORD_CHARACTERS_MAX);
  let lines = 0;
  for (let at = start; ; ) {
    const cell = text[at] === QUOTE ? quotedCell(text, at, most) : plainCell(text, at, separator);
    if (cells.push(cell.text) > CELLS_MAX || cell.damaged || cell.next - start > RECORD_CHARACTERS_MAX)
      return skipLine(text, start, { cells, damaged: true });
    lines += cell.lines;
    const mark = text[cell.next];
    if (mark === separator) {
      at = cell.next + 1;
      continue;
    }
    const ended = lineEnd(text, cell.next);
    if (ended === null) return skipLine(text, start, { cells, damaged: true });
    return { cells, damaged: false, next: ended, lines: lines + 1 };
  }
}

interface Cell {
  readonly text: string;
  /** Behind the cell: at a separator, a line end or the end of the text when it is whole. */
  readonly next: number;
  readonly lines: number;
  readonly damaged: boolean;
}

function plainCell(text: string, start: number, separator: string): Cell {
  let at = start;
  while (at < text.length && text[at] !== separator && text[at] !== "\n" && text[at] !== "\r") at++;
  return { text: text.slice(start, at), next: at, lines: 0, damaged: false };
}

function quotedCell(text: string, start: number, most: number): Cell {
  let value = "";
  let lines = 0;
  for (let at = start + 1; at < most; ) {
    const quote = text.indexOf(QUOTE, at);
    if (quote < 0 || quote >= most) break;
    const piece = text.slice(at, quote);
    value += piece;
    lines += piece.split("\n").length - 1;
    if (text[quote + 1] !== QUOTE) return { text: value, next: quote + 1, lines, damaged: false };
    value += QUOTE;
    at = quote + 2;
  }
  return { text: value, next: most, lines, damaged: true };
}

/** Behind the line end that stands here; null when something else does. The end of the text ends its last line. */
function lineEnd(text: string, at: number): number | null {
  if (at >= text.length) return at;
  if (text[at] === "\n") return at + 1;
  if (text[at] === "\r") return text[at + 1] === "\n" ? at + 2 : at + 1;
  return null;
}

/** A record that cannot be read costs its first line only, so that the next rows have their chance. */
function skipLine(text: string, start: number, { cells, damaged }: Pick<ReadRecord, "cells" | "damaged">): ReadRecord {
  const end = text.indexOf("\n", start);
  return { cells, damaged, next: end < 0 ? text.length : end + 1, lines: 1 };
}
