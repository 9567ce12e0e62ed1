import type { DesiredState } from "@berth/core";
import type { PlanStore } from "../store.js";
import type { PostgresDatabase } from "./postgres-database.js";

export function postgresPlans(database: PostgresDatabase): PlanStore {
  return {
    load: () =>
      database.snapshot(async (query) => {
        const rows = await query.selectFrom("desired").select(["state", "digest"]).orderBy("rack_id").execute();
        const serials = await query.selectFrom("zone_serial").selectAll().orderBy("site").orderBy("origin").execute();
        return { desired: rows.map(({ state, digest }) => ({ state: JSON.parse(state) as DesiredState, digest })), serials };
      }),
    save: (desired, serials) =>
      database.write(async (query) => {
        for (const { state, digest } of desired) {
          const row = { generation: state.generation, digest, state: JSON.stringify(state) };
          const upsert = query.insertInto("desired").values({ rack_id: state.rack, ...row });
          await upsert.onConflict((conflict) => conflict.column("rack_id").doUpdateSet(row)).execute();
        }
        for (const { site, origin, serial, digest } of serials) {
          const upsert = query.insertInto("zone_serial").values({ site, origin, serial, digest });
          await upsert.onConflict((conflict) => conflict.columns(["site", "origin"]).doUpdateSet({ serial, digest })).execute();
        }
      }),
  };
}
