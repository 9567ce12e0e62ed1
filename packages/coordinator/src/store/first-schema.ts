import { sql, type Kysely } from "kysely";

/** The tables as the first version had them. What must never happen is refused here, whatever the code above does. */
export async function firstSchema(db: Kysely<unknown>): Promise<void> {
  await ledgerTables(db);
  await allocationTable(db);
  await rackTables(db);
  await planTables(db);
}

async function ledgerTables(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("ledger")
    .addColumn("id", "integer", (column) => column.primaryKey().check(sql`id = 1`))
    .addColumn("revision", "bigint", (column) => column.notNull())
    .addColumn("next_subnet", "integer", (column) => column.notNull())
    .execute();
  await sql`insert into ledger (id, revision, next_subnet) values (1, 0, 1)`.execute(db);
  await db.schema
    .createTable("subnet")
    .addColumn("id", "integer", (column) => column.primaryKey())
    .addColumn("site", "text", (column) => column.notNull())
    .addColumn("family", "integer", (column) => column.notNull().check(sql`family in (4, 6)`))
    .addColumn("first_address", "blob", (column) => column.notNull())
    .addColumn("last_address", "blob", (column) => column.notNull())
    .addColumn("prefix", "text", (column) => column.notNull())
    .addColumn("gateway", "text")
    .addColumn("domain", "text", (column) => column.notNull())
    .addColumn("mode", "text", (column) => column.notNull())
    .addColumn("window", "text")
    .addColumn("enlistment", "text")
    .addColumn("reserved", "text", (column) => column.notNull())
    .addColumn("dns", "text")
    .addColumn("ntp", "text")
    .addColumn("lease_time", "integer", (column) => column.notNull())
    .addColumn("max_lease_time", "integer", (column) => column.notNull())
    .addColumn("held_until", "bigint")
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addUniqueConstraint("subnet_site_first", ["site", "first_address"])
    .addUniqueConstraint("subnet_identity", ["id", "site", "family", "first_address", "last_address"])
    .execute();
  await db.schema
    .createTable("machine")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("name", "text")
    .addColumn("state", "text", (column) => column.notNull().check(sql`state in ('enlisted', 'enrolled', 'released')`))
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .execute();
  await db.schema
    .createTable("nic")
    .addColumn("hardware_address", "text", (column) => column.primaryKey())
    .addColumn("machine_id", "text", (column) => column.notNull().references("machine.id").onDelete("cascade"))
    .addColumn("position", "integer", (column) => column.notNull())
    .addUniqueConstraint("nic_position", ["machine_id", "position"])
    .execute();
}

async function allocationTable(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("allocation")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("kind", "text", (column) => column.notNull().check(sql`kind in ('machine', 'additional', 'vip')`))
    .addColumn("subnet_id", "integer", (column) => column.notNull())
    .addColumn("site", "text", (column) => column.notNull())
    .addColumn("family", "integer", (column) => column.notNull())
    .addColumn("first_address", "blob", (column) => column.notNull())
    .addColumn("last_address", "blob", (column) => column.notNull())
    .addColumn("address", "blob", (column) => column.notNull())
    .addColumn("machine_id", "text", (column) => column.references("machine.id"))
    .addColumn("nics", "text", (column) => column.notNull())
    .addColumn("owner_key", "text", (column) => column.notNull().unique())
    .addColumn("zone", "text", (column) => column.notNull())
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("owners", "text", (column) => column.notNull())
    .addColumn("delivery", "text", (column) => column.notNull())
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addUniqueConstraint("allocation_address", ["site", "address"])
    .addUniqueConstraint("allocation_name", ["zone", "name"])
    .addCheckConstraint("allocation_in_subnet", sql`address >= first_address and address <= last_address`)
    .addForeignKeyConstraint("allocation_subnet", ["subnet_id", "site", "family", "first_address", "last_address"], "subnet", [
      "id",
      "site",
      "family",
      "first_address",
      "last_address",
    ])
    .execute();
  await db.schema
    .createTable("quarantine")
    .addColumn("site", "text", (column) => column.notNull())
    .addColumn("address", "blob", (column) => column.notNull())
    .addColumn("family", "integer", (column) => column.notNull())
    .addColumn("subnet_id", "integer", (column) => column.notNull())
    .addColumn("released_at", "bigint", (column) => column.notNull())
    .addColumn("until", "bigint", (column) => column.notNull())
    .addColumn("nics", "text", (column) => column.notNull())
    .addPrimaryKeyConstraint("quarantine_address", ["site", "address"])
    .execute();
}

async function rackTables(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("rack")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("name", "text", (column) => column.notNull().unique())
    .addColumn("site", "text", (column) => column.notNull())
    .addColumn("joined_at", "bigint", (column) => column.notNull())
    .addColumn("certificate_serial", "text")
    .addColumn("public_key_hash", "text", (column) => column.notNull())
    .execute();
  await db.schema
    .createTable("join_token")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("secret_hash", "text", (column) => column.notNull())
    .addColumn("expires_at", "bigint", (column) => column.notNull())
    .addColumn("rack_name", "text")
    .addColumn("site", "text", (column) => column.notNull())
    .addColumn("used_by", "text")
    .addColumn("used_at", "bigint")
    .execute();
  await db.schema
    .createTable("rack_interfaces")
    .addColumn("rack_id", "text", (column) => column.primaryKey())
    .addColumn("reported_at", "bigint", (column) => column.notNull())
    .addColumn("interfaces", "text", (column) => column.notNull())
    .execute();
  await db.schema
    .createTable("rack_lease")
    .addColumn("rack_id", "text", (column) => column.notNull())
    .addColumn("address", "blob", (column) => column.notNull())
    .addColumn("lease", "text", (column) => column.notNull())
    .addPrimaryKeyConstraint("rack_lease_address", ["rack_id", "address"])
    .execute();
}

async function planTables(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("setting")
    .addColumn("name", "text", (column) => column.primaryKey())
    .addColumn("value", "text", (column) => column.notNull())
    .execute();
  await db.schema
    .createTable("desired")
    .addColumn("rack_id", "text", (column) => column.primaryKey())
    .addColumn("generation", "bigint", (column) => column.notNull())
    .addColumn("digest", "text", (column) => column.notNull())
    .addColumn("state", "text", (column) => column.notNull())
    .execute();
  await db.schema
    .createTable("zone_serial")
    .addColumn("site", "text", (column) => column.notNull())
    .addColumn("origin", "text", (column) => column.notNull())
    .addColumn("serial", "bigint", (column) => column.notNull())
    .addColumn("digest", "text", (column) => column.notNull())
    .addPrimaryKeyConstraint("zone_serial_origin", ["site", "origin"])
    .execute();
  await db.schema
    .createTable("audit")
    .addColumn("number", "integer", (column) => column.primaryKey().autoIncrement())
    .addColumn("at", "bigint", (column) => column.notNull())
    .addColumn("actor", "text", (column) => column.notNull())
    .addColumn("action", "text", (column) => column.notNull())
    .addColumn("subject", "text", (column) => column.notNull())
    .addColumn("detail", "text", (column) => column.notNull())
    .execute();
}
