import { baseOf, desiredRecordOf } from "./desired-rows.js";
import type { SqliteConnection } from "./sqlite-connection.js";
import type { DesiredRecord, PlanStore } from "./store.js";

export function sqlitePlans(connection: SqliteConnection): PlanStore {
  const { query } = connection;

  function saveDesired({ state, digest, change }: DesiredRecord): void {
    const rack_id = state.rack;
    if (change !== null && connection.all(baseOf(query, rack_id, change)).length > 0) {
      const row = { digest, change: JSON.stringify(change) };
      const upsert = query.insertInto("desired_change").values({ rack_id, ...row });
      connection.run(upsert.onConflict((conflict) => conflict.column("rack_id").doUpdateSet(row)));
      return;
    }
    const row = { generation: state.generation, digest, state: JSON.stringify(state) };
    const upsert = query.insertInto("desired").values({ rack_id, ...row });
    connection.run(upsert.onConflict((conflict) => conflict.column("rack_id").doUpdateSet(row)));
    connection.run(query.deleteFrom("desired_change").where("rack_id", "=", rack_id));
  }

  return {
    load: () =>
      new Promise((resolve) => {
        const rows = connection.all(
          query
            .selectFrom("desired")
            .leftJoin("desired_change", "desired_change.rack_id", "desired.rack_id")
            .select(["desired.state", "desired.digest", "desired_change.change", "desired_change.digest as change_digest"])
            .orderBy("desired.rack_id"),
        );
        const serials = connection.all(query.selectFrom("zone_serial").selectAll().orderBy("site").orderBy("origin"));
        resolve({ desired: rows.map(desiredRecordOf), serials });
      }),
    save: (desired, serials) =>
      new Promise((resolve) => {
        connection.transaction(() => {
          for (const record of desired) saveDesired(record);
          for (const { site, origin, serial, digest } of serials) {
            const upsert = query.insertInto("zone_serial").values({ site, origin, serial, digest });
            connection.run(upsert.onConflict((conflict) => conflict.columns(["site", "origin"]).doUpdateSet({ serial, digest })));
          }
        });
        resolve();
      }),
  };
}
