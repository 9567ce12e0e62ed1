import { printable } from "@berth/core";

export interface Column<T> {
  readonly title: string;
  readonly cell: (row: T) => string;
  /** What few look for and would fill the screen: `-o wide` shows it. */
  readonly wide?: true;
}

const GAP = "   ";

/** Aligned columns under a head, one row a line; what is empty shows as `-`. */
export function formatTable<T>(rows: readonly T[], columns: readonly Column<T>[]): string {
  const cells = rows.map((row) => columns.map(({ cell }) => printable(cell(row)) || "-"));
  const lines = [columns.map(({ title }) => title), ...cells];
  const widths = columns.map((_, index) => lines.reduce((widest, line) => Math.max(widest, width(line[index] ?? "")), 0));
  return lines.map((line) => formatLine(line, widths)).join("");
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
