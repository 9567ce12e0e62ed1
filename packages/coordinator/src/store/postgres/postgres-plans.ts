import type { Kysely } from "kysely";
import { baseOf, desiredRecordOf } from "../desired-rows.js";
import type { DesiredRecord, PlanStore } from "../store.js";
import type { Tables } from "../tables.js";
import type { PostgresDatabase } from "./postgres-database.js";

export function postgresPlans(database: PostgresDatabase): PlanStore {
  return {
    load: () =>
      database.snapshot(async (query) => {
        const rows = await query
          .selectFrom("desired")
          .leftJoin("desired_change", "desired_change.rack_id", "desired.rack_id")
          .select(["desired.state", "desired.digest", "desired_change.change", "desired_change.digest as change_digest"])
          .orderBy("desired.rack_id")
          .execute();
        const serials = await query.selectFrom("zone_serial").selectAll().orderBy("site").orderBy("origin").execute();
        return { desired: rows.map(desiredRecordOf), serials };
      }),
    save: (desired, serials) =>
      database.write(async (query) => {
        for (const record of desired) await saveDesired(query, record);
        for (const { site, origin, serial, digest } of serials) {
          const upsert = query.insertInto("zone_serial").values({ site, origin, serial, digest });
          await upsert.onConflict((conflict) => conflict.columns(["site", "origin"]).doUpdateSet({ serial, digest })).execute();
        }
      }),
  };
}

async function saveDesired(query: Kysely<Tables>, { state, digest, change }: DesiredRecord): Promise<void> {
  const rack_id = state.rack;
  if (change !== null && (await baseOf(query, rack_id, change).executeTakeFirst()) !== undefined) {
    const row = { digest, change: JSON.stringify(change) };
    const upsert = query.insertInto("desired_change").values({ rack_id, ...row });
    await upsert.onConflict((conflict) => conflict.column("rack_id").doUpdateSet(row)).execute();
    return;
  }
  const row = { generation: state.generation, digest, state: JSON.stringify(state) };
  const upsert = query.insertInto("desired").values({ rack_id, ...row });
  await upsert.onConflict((conflict) => conflict.column("rack_id").doUpdateSet(row)).execute();
  await query.deleteFrom("desired_change").where("rack_id", "=", rack_id).execute();
}
