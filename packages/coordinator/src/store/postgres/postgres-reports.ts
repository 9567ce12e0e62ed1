import type { Transaction } from "kysely";
import { addressBlob } from "../address-blob.js";
import type { PendingReport, ReportEngine } from "../queued-reports.js";
import { reportsFromRows } from "../sqlite-reports.js";
import type { Tables } from "../tables.js";
import { insertRows } from "./insert-rows.js";
import type { PostgresDatabase } from "./postgres-database.js";

const GONE_MAX = 512;

export function postgresReports(database: PostgresDatabase): ReportEngine {
  return {
    load: () =>
      database.snapshot(async (query) => {
        const interfaces = await query.selectFrom("rack_interfaces").selectAll().execute();
        const leases = await query.selectFrom("rack_lease").select(["rack_id", "lease"]).orderBy("address").execute();
        return reportsFromRows(interfaces, leases);
      }),
    write: (batch) =>
      database.write(async (query) => {
        for (const [rackId, pending] of batch) await writeRack(query, rackId, pending);
      }),
  };
}

async function writeRack(query: Transaction<Tables>, rackId: string, pending: PendingReport): Promise<void> {
  if (pending.interfaces !== null) {
    const row = { reported_at: pending.interfaces.at, interfaces: JSON.stringify(pending.interfaces.list) };
    const upsert = query.insertInto("rack_interfaces").values({ rack_id: rackId, ...row });
    await upsert.onConflict((conflict) => conflict.column("rack_id").doUpdateSet(row)).execute();
  }
  const ofRack = query.deleteFrom("rack_lease").where("rack_id", "=", rackId);
  if (pending.replace) {
    await ofRack.execute();
  } else {
    const addresses = [...pending.leases.keys()].map(addressBlob);
    for (let from = 0; from < addresses.length; from += GONE_MAX)
      await ofRack.where("address", "in", addresses.slice(from, from + GONE_MAX)).execute();
  }
  const kept = [...pending.leases].flatMap(([address, report]) =>
    report === null ? [] : [{ rack_id: rackId, address: addressBlob(address), lease: JSON.stringify(report) }],
  );
  await insertRows(query, "rack_lease", kept);
}
