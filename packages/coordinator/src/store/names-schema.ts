import { sql, type Kysely } from "kysely";

/** Reservations, operators' records, and the answers kept for callers that repeat a request. */
export async function namesSchema(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("reservation")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("kind", "text", (column) => column.notNull().check(sql`kind in ('reservation', 'exclusion')`))
    .addColumn("subnet_id", "integer", (column) => column.notNull())
    .addColumn("site", "text", (column) => column.notNull())
    .addColumn("family", "integer", (column) => column.notNull())
    .addColumn("subnet_first", "blob", (column) => column.notNull())
    .addColumn("subnet_last", "blob", (column) => column.notNull())
    .addColumn("first_address", "blob", (column) => column.notNull())
    .addColumn("last_address", "blob", (column) => column.notNull())
    .addColumn("note", "text", (column) => column.notNull())
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addUniqueConstraint("reservation_first", ["site", "first_address"])
    .addCheckConstraint(
      "reservation_in_subnet",
      sql`subnet_first <= first_address and first_address <= last_address and last_address <= subnet_last`,
    )
    .addForeignKeyConstraint("reservation_subnet", ["subnet_id", "site", "family", "subnet_first", "subnet_last"], "subnet", [
      "id",
      "site",
      "family",
      "first_address",
      "last_address",
    ])
    .execute();
  await db.schema
    .createTable("name_record")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("type", "text", (column) => column.notNull().check(sql`type in ('A', 'AAAA', 'CNAME', 'TXT')`))
    .addColumn("value", "text", (column) => column.notNull())
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addUniqueConstraint("name_record_content", ["name", "type", "value"])
    .execute();
  await sql`create unique index name_record_alias on name_record (name) where type = 'CNAME'`.execute(db);
  await db.schema
    .createTable("kept_answer")
    .addColumn("actor", "text", (column) => column.notNull())
    .addColumn("key", "text", (column) => column.notNull())
    .addColumn("request", "text", (column) => column.notNull())
    .addColumn("answer", "text", (column) => column.notNull())
    .addColumn("at", "bigint", (column) => column.notNull())
    .addPrimaryKeyConstraint("kept_answer_key", ["actor", "key"])
    .execute();
}
