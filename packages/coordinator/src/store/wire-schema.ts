import type { Kysely } from "kysely";

/** Who answered for which address on the wires of a site, and when it was probed: a restart must not give away what was seen in use. */
export async function wireSchema(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("wire_record")
    .addColumn("site", "text", (column) => column.notNull())
    .addColumn("address", "blob", (column) => column.notNull())
    .addColumn("facts", "text", (column) => column.notNull())
    .addPrimaryKeyConstraint("wire_record_key", ["site", "address"])
    .execute();
}
