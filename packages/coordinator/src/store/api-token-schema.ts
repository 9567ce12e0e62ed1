import type { Kysely } from "kysely";

/** Tokens of the HTTP API beside the administrator's of the first start: digests only. */
export async function apiTokenSchema(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("api_token")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("name", "text", (column) => column.notNull().unique())
    .addColumn("role", "text", (column) => column.notNull())
    .addColumn("digest", "text", (column) => column.notNull().unique())
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addColumn("created_by", "text", (column) => column.notNull())
    .addColumn("expires_at", "bigint")
    .execute();
}
