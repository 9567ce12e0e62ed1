import type { WireRecord } from "@berth/core";
import { addressBlob } from "../address-blob.js";
import { countWireSave, wantedAfter, wireSaves, type WireStore } from "../wire-store.js";
import type { PostgresDatabase } from "./postgres-database.js";

export function postgresWire(database: PostgresDatabase): WireStore {
  return {
    load: (after = -1) =>
      database.read(async (query) => {
        // First: what is saved while the records are read is read again, not left out.
        const mark = Number((await wireSaves(query).executeTakeFirst())?.value ?? 0);
        const from = wantedAfter(after, mark);
        if (from === null) return { records: [], mark };
        const rows = await query.selectFrom("wire_record").select("facts").where("saved", ">", from).execute();
        return { records: rows.map(({ facts }) => JSON.parse(facts) as WireRecord), mark };
      }),
    save: ({ records, gone }) =>
      database.write(async (query) => {
        await countWireSave(query).execute();
        const saved = Number((await wireSaves(query).executeTakeFirstOrThrow()).value);
        for (const record of records) {
          const facts = JSON.stringify(record);
          const upsert = query
            .insertInto("wire_record")
            .values({ site: record.site, address: addressBlob(record.address), facts, saved });
          await upsert.onConflict((conflict) => conflict.columns(["site", "address"]).doUpdateSet({ facts, saved })).execute();
        }
        for (const { site, address } of gone) {
          const row = query.deleteFrom("wire_record").where("site", "=", site);
          await row.where("address", "=", addressBlob(address)).execute();
        }
      }, "repeatable"),
  };
}
