import type { Insertable, Kysely } from "kysely";
import type { Tables } from "../tables.js";

const ROWS_MAX = 64;

/**
 * Inserts many rows with few statements. The server prepares each text once, so the numbers of rows in one are powers of two: few texts serve
 * all groups.
 */
export async function insertRows<Name extends keyof Tables>(
  transaction: Kysely<Tables>,
  table: Name,
  rows: readonly Insertable<Tables[Name]>[],
): Promise<void> {
  for (let from = 0; from < rows.length; ) {
    const count = Math.min(ROWS_MAX, 2 ** Math.floor(Math.log2(rows.length - from)));
    await transaction
      .insertInto(table)
      .values(rows.slice(from, from + count))
      .execute();
    from += count;
  }
}
