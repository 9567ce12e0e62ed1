import type { WireRecord } from "@berth/core";
import { addressBlob } from "./address-blob.js";
import type { SqliteConnection } from "./sqlite-connection.js";
import type { WireStore } from "./wire-store.js";

export function sqliteWire(connection: SqliteConnection): WireStore {
  const { query } = connection;
  return {
    load: () =>
      new Promise((resolve) => {
        const rows = connection.all(query.selectFrom("wire_record").select("facts").orderBy("site").orderBy("address"));
        resolve(rows.map(({ facts }) => JSON.parse(facts) as WireRecord));
      }),
    save: ({ records, gone }) =>
      new Promise((resolve) => {
        connection.transaction(() => {
          for (const record of records) {
            const facts = JSON.stringify(record);
            const upsert = query
              .insertInto("wire_record")
              .values({ site: record.site, address: addressBlob(record.address), facts });
            connection.run(upsert.onConflict((conflict) => conflict.columns(["site", "address"]).doUpdateSet({ facts })));
          }
          for (const { site, address } of gone)
            connection.run(query.deleteFrom("wire_record").where("site", "=", site).where("address", "=", addressBlob(address)));
        });
        resolve();
      }),
  };
}
