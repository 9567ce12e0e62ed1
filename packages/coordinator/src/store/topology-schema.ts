import type { Kysely } from "kysely";

/** What the topology of a region was, so that a restart forgets neither a VIP's moves nor why an address counts as virtual. */
export async function topologySchema(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("topology_rack")
    .addColumn("rack_id", "text", (column) => column.primaryKey())
    .addColumn("facts", "text", (column) => column.notNull())
    .execute();
  await db.schema
    .createTable("topology_address")
    .addColumn("site", "text", (column) => column.notNull())
    .addColumn("address", "blob", (column) => column.notNull())
    .addColumn("facts", "text", (column) => column.notNull())
    .addPrimaryKeyConstraint("topology_address_key", ["site", "address"])
    .execute();
  await db.schema
    .createTable("vip_move")
    .addColumn("number", "integer", (column) => column.primaryKey().autoIncrement())
    .addColumn("site", "text", (column) => column.notNull())
    .addColumn("address", "blob", (column) => column.notNull())
    .addColumn("family", "integer", (column) => column.notNull())
    .addColumn("from_rack", "text", (column) => column.notNull())
    .addColumn("to_rack", "text", (column) => column.notNull())
    .addColumn("at", "bigint", (column) => column.notNull())
    .execute();
  await db.schema.createIndex("vip_move_address").on("vip_move").columns(["address", "number"]).execute();
}
