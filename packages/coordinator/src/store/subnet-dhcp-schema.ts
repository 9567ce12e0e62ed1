import type { Kysely } from "kysely";

/** What operators set of a subnet's DHCP beside addresses and lease times. */
export async function subnetDhcpSchema(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("subnet").addColumn("dhcp", "text").execute();
}
