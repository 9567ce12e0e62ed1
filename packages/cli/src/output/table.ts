import { printable } from "@berth/core";

export interface Column<T> {
  readonly title: string;
  readonly cell: (row: T) => string;
  /** What few look for and would fill the screen: only a wide table has it. */
  readonly wide?: true;
  /** For sentences: on a line of its own under the row, after these words, if there is anything to say. A column as any other in a wide table. */
  readonly below?: string;
}

const GAP = "   ";
const INDENT = "    ";

/** Aligned columns under a head, one row a line; what is empty shows as `-`. */
export function formatTable<T>(rows: readonly T[], columns: readonly Column<T>[], wide = false): string {
  const beside = columns.filter((column) => wide || (column.wide !== true && column.below === undefined));
  const below = wide ? [] : columns.filter((column) => column.below !== undefined);
  const cells = rows.map((row) => beside.map(({ cell }) => printable(cell(row)) || "-"));
  const head = beside.map(({ title }) => title);
  const widths = head.map((_, index) => [head, ...cells].reduce((widest, line) => Math.max(widest, width(line[index] ?? "")), 0));
  const lines = rows.map(
    (row, index) => formatLine(cells[index] ?? [], widths) + below.map((column) => lineBelow(column, row)).join(""),
  );
  return formatLine(head, widths) + lines.join("");
}

function lineBelow<T>({ below = "", cell }: Column<T>, row: T): string {
  const text = printable(cell(row));
  return text === "" ? "" : `${INDENT}${below}${text}\n`;
}

/** Names and values of one thing, one a line. */
export function formatFields(fields: readonly (readonly [name: string, value: string])[]): string {
  const longest = Math.max(...fields.map(([name]) => name.length));
  return fields.map(([name, value]) => `${`${name}:`.padEnd(longest + 1)}   ${printable(value) || "-"}\n`).join("");
}

function formatLine(cells: readonly string[], widths: readonly number[]): string {
  const padded = cells.map((cell, index) => cell + " ".repeat(Math.max(0, (widths[index] ?? 0) - width(cell))));
  return `${padded.join(GAP).trimEnd()}\n`;
}

function width(text: string): number {
  return [...text].length;
}
