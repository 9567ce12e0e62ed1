import type { Kysely } from "kysely";

/** What leads from the desired state that is saved whole to the newest of that rack; there is none where that is the newest. */
export async function desiredChangeSchema(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("desired_change")
    .addColumn("rack_id", "text", (column) => column.primaryKey())
    .addColumn("digest", "text", (column) => column.notNull())
    .addColumn("change", "text", (column) => column.notNull())
    .execute();
}
