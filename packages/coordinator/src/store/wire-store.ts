import type { WireRecord } from "@berth/core";
import { sql, type Kysely } from "kysely";
import type { Tables } from "./tables.js";

/** What was heard on the wires, kept over a restart. */
export interface WireStore {
  /** All records, or those alone that were saved after a mark. Of a database that went back behind the mark: all. */
  load(after?: number): Promise<LoadedWire>;
  /** Replaces or adds records, and forgets those that are gone, by site and address. */
  save(change: WireChange): Promise<void>;
}

export interface LoadedWire {
  readonly records: readonly WireRecord[];
  /** Nothing saved up to here is missing in the records. */
  readonly mark: number;
}

export interface WireChange {
  readonly records: readonly WireRecord[];
  readonly gone: readonly Pick<WireRecord, "site" | "address">[];
}

const SAVES = "wire-saves";

/** How often anything was saved; no row before the first time. */
export function wireSaves(query: Kysely<Tables>) {
  return query.selectFrom("setting").select("value").where("name", "=", SAVES);
}

/** Counts one more save. First in its transaction: who saves at the same time waits for the row, so that saves are seen in the order of their numbers. */
export function countWireSave(query: Kysely<Tables>) {
  const value = sql<string>`cast(cast(setting.value as bigint) + 1 as text)`;
  const first = query.insertInto("setting").values({ name: SAVES, value: "1" });
  return first.onConflict((conflict) => conflict.column("name").doUpdateSet({ value }));
}

/** After which save records are wanted, by what the reader has and what was saved so far; null when there are none. */
export function wantedAfter(after: number, saves: number): number | null {
  if (after === saves) return null;
  return after > saves ? -1 : after;
}
