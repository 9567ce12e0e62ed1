import type { Kysely } from "kysely";

/** What several coordinators on one database need: which commit a revision is, and the newest commits to follow. */
export async function sharedLedgerSchema(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable("ledger")
    .addColumn("head", "text", (column) => column.notNull().defaultTo(""))
    .execute();
  await db.schema
    .createTable("ledger_change")
    .addColumn("revision", "bigint", (column) => column.primaryKey())
    .addColumn("commit_id", "text", (column) => column.notNull().unique())
    .addColumn("parent", "text", (column) => column.notNull())
    .addColumn("changes", "text", (column) => column.notNull())
    .execute();
}
