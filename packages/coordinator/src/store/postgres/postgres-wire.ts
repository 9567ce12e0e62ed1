import type { WireRecord } from "@berth/core";
import { addressBlob } from "../address-blob.js";
import type { WireStore } from "../wire-store.js";
import type { PostgresDatabase } from "./postgres-database.js";

export function postgresWire(database: PostgresDatabase): WireStore {
  return {
    load: async () => {
      const rows = await database.read((query) =>
        query.selectFrom("wire_record").select("facts").orderBy("site").orderBy("address").execute(),
      );
      return rows.map(({ facts }) => JSON.parse(facts) as WireRecord);
    },
    save: ({ records, gone }) =>
      database.write(async (query) => {
        for (const record of records) {
          const facts = JSON.stringify(record);
          const upsert = query
            .insertInto("wire_record")
            .values({ site: record.site, address: addressBlob(record.address), facts });
          await upsert.onConflict((conflict) => conflict.columns(["site", "address"]).doUpdateSet({ facts })).execute();
        }
        for (const { site, address } of gone) {
          const row = query.deleteFrom("wire_record").where("site", "=", site);
          await row.where("address", "=", addressBlob(address)).execute();
        }
      }, "repeatable"),
  };
}
