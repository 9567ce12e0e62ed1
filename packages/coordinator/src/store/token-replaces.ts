import type { Kysely } from "kysely";

/** A token says whether it may give a known rack's place to another host; none of those made before may. */
export async function tokenReplaces(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable("join_token")
    .addColumn("replaces", "integer", (column) => column.notNull().defaultTo(0))
    .execute();
}
