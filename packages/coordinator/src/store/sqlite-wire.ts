import type { WireRecord } from "@berth/core";
import { addressBlob } from "./address-blob.js";
import type { SqliteConnection } from "./sqlite-connection.js";
import { countWireSave, wantedAfter, wireSaves, type WireStore } from "./wire-store.js";

export function sqliteWire(connection: SqliteConnection): WireStore {
  const { query } = connection;
  return {
    load: (after = -1) =>
      new Promise((resolve) => {
        const mark = Number(connection.all(wireSaves(query))[0]?.value ?? 0);
        const from = wantedAfter(after, mark);
        const wanted = query.selectFrom("wire_record").select("facts");
        const rows = from === null ? [] : connection.all(wanted.where("saved", ">", from));
        resolve({ records: rows.map(({ facts }) => JSON.parse(facts) as WireRecord), mark });
      }),
    save: ({ records, gone }) =>
      new Promise((resolve) => {
        connection.transaction(() => {
          connection.run(countWireSave(query));
          const saved = Number(connection.all(wireSaves(query))[0]?.value);
          for (const record of records) {
            const facts = JSON.stringify(record);
            const upsert = query
              .insertInto("wire_record")
              .values({ site: record.site, address: addressBlob(record.address), facts, saved });
            connection.run(upsert.onConflict((conflict) => conflict.columns(["site", "address"]).doUpdateSet({ facts, saved })));
          }
          for (const { site, address } of gone)
            connection.run(query.deleteFrom("wire_record").where("site", "=", site).where("address", "=", addressBlob(address)));
        });
        resolve();
      }),
  };
}
