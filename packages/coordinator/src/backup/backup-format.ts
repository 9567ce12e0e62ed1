import { z } from "zod";

/*
 * A backup is text, one JSON value a line: a header, then each row as [table, row], and at the end a trailer with the number of rows and a
 * digest of all bytes before it. It is the same for every engine, so a region can move from one to another.
 */

export const backupHeaderSchema = z.strictObject({
  format: z.literal("berth-backup"),
  formatVersion: z.literal(1),
  /** Of Berth, for people. */
  version: z.string().max(64),
  /** The schema the rows are of. */
  migrations: z.array(z.string().max(200)).min(1).max(1000),
  /** Milliseconds since 1970. */
  at: z.number().int(),
});
export type BackupHeader = z.infer<typeof backupHeaderSchema>;

export const backupTrailerSchema = z.strictObject({
  rows: z.number().int().min(0),
  /** SHA-256 of all bytes before this line, in hex. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});

/** A column's value as the engines give it. */
export type Cell = string | number | null | Uint8Array;
export type Row = Readonly<Record<string, Cell>>;

const octetsSchema = z.strictObject({ hex: z.string().regex(/^(?:[0-9a-f]{2})*$/) });
const rowLineSchema = z.tuple([
  z.string().max(64),
  z.record(z.string().max(64), z.union([z.string(), z.number(), z.null(), octetsSchema])),
]);

export function rowLine(table: string, row: Row): string {
  const cells = Object.entries(row).map(([column, cell]) => [
    column,
    cell instanceof Uint8Array ? { hex: Buffer.from(cell).toString("hex") } : cell,
  ]);
  return JSON.stringify([table, Object.fromEntries(cells)]);
}

/** Null for what is no row. */
export function parseRowLine(value: unknown): { readonly table: string; readonly row: Row } | null {
  const parsed = rowLineSchema.safeParse(value);
  if (!parsed.success) return null;
  const [table, columns] = parsed.data;
  const cells = Object.entries(columns).map(([column, cell]): [string, Cell] => [
    column,
    typeof cell === "object" && cell !== null ? Buffer.from(cell.hex, "hex") : cell,
  ]);
  return { table, row: Object.fromEntries(cells) };
}

/** Tables in an order in which each comes after those that it refers to; others follow. */
const ORDER = ["ledger", "subnet", "machine", "nic", "allocation"];
/** Not of the region: the steps of the schema, and what coordinators tell each other. */
const LEFT_OUT = /^(kysely_migration(_lock)?|ledger_change)$/;

export function backupTables(all: readonly string[]): readonly string[] {
  const rank = (table: string): number => (ORDER.includes(table) ? ORDER.indexOf(table) : ORDER.length);
  return all.filter((table) => !LEFT_OUT.test(table)).sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
}
