import type { Kysely } from "kysely";

/** Which save a record on the wire came with, so that another coordinator reads only what is newer than it has. */
export async function wireSavesSchema(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable("wire_record")
    .addColumn("saved", "integer", (column) => column.notNull().defaultTo(0))
    .execute();
  await db.schema.createIndex("wire_record_saved").on("wire_record").column("saved").execute();
}
