import type { DesiredState } from "@berth/core";
import type { SqliteConnection } from "./sqlite-connection.js";
import type { PlanStore } from "./store.js";

export function sqlitePlans(connection: SqliteConnection): PlanStore {
  const { query } = connection;
  return {
    load: () =>
      new Promise((resolve) => {
        const rows = connection.all(query.selectFrom("desired").select(["state", "digest"]).orderBy("rack_id"));
        const serials = connection.all(query.selectFrom("zone_serial").selectAll().orderBy("site").orderBy("origin"));
        const desired = rows.map(({ state, digest }) => ({ state: JSON.parse(state) as DesiredState, digest }));
        resolve({ desired, serials });
      }),
    save: (desired, serials) =>
      new Promise((resolve) => {
        connection.transaction(() => {
          for (const { state, digest } of desired) {
            const row = { generation: state.generation, digest, state: JSON.stringify(state) };
            const upsert = query.insertInto("desired").values({ rack_id: state.rack, ...row });
            connection.run(upsert.onConflict((conflict) => conflict.column("rack_id").doUpdateSet(row)));
          }
          for (const { site, origin, serial, digest } of serials) {
            const upsert = query.insertInto("zone_serial").values({ site, origin, serial, digest });
            connection.run(upsert.onConflict((conflict) => conflict.columns(["site", "origin"]).doUpdateSet({ serial, digest })));
          }
        });
        resolve();
      }),
  };
}
