import type { HostInterface, LeaseReport } from "@berth/core";
import { addressBlob } from "./address-blob.js";
import type { PendingReport, ReportEngine } from "./queued-reports.js";
import type { SqliteConnection } from "./sqlite-connection.js";
import type { RackReport } from "./store.js";
import type { Tables } from "./tables.js";

export function sqliteReports(connection: SqliteConnection): ReportEngine {
  return {
    load: () => new Promise((resolve) => resolve(loadReports(connection))),
    write: (batch) =>
      new Promise((resolve) => {
        connection.transaction(() => {
          for (const [rackId, pending] of batch) writeRack(connection, rackId, pending);
        });
        resolve();
      }),
  };
}

function writeRack(connection: SqliteConnection, rackId: string, pending: PendingReport): void {
  const { query } = connection;
  if (pending.interfaces !== null) {
    const row = { reported_at: pending.interfaces.at, interfaces: JSON.stringify(pending.interfaces.list) };
    const upsert = query.insertInto("rack_interfaces").values({ rack_id: rackId, ...row });
    connection.run(upsert.onConflict((conflict) => conflict.column("rack_id").doUpdateSet(row)));
  }
  if (pending.replace) connection.run(query.deleteFrom("rack_lease").where("rack_id", "=", rackId));
  for (const [address, report] of pending.leases) {
    const key = addressBlob(address);
    if (report === null) {
      connection.run(query.deleteFrom("rack_lease").where("rack_id", "=", rackId).where("address", "=", key));
      continue;
    }
    const lease = JSON.stringify(report);
    const upsert = query.insertInto("rack_lease").values({ rack_id: rackId, address: key, lease });
    connection.run(upsert.onConflict((conflict) => conflict.columns(["rack_id", "address"]).doUpdateSet({ lease })));
  }
}

function loadReports(connection: SqliteConnection): ReadonlyMap<string, RackReport> {
  const { query } = connection;
  return reportsFromRows(
    connection.all(query.selectFrom("rack_interfaces").selectAll()),
    connection.all(query.selectFrom("rack_lease").select(["rack_id", "lease"]).orderBy("address")),
  );
}

export function reportsFromRows(
  interfaces: readonly Tables["rack_interfaces"][],
  leases: readonly Pick<Tables["rack_lease"], "rack_id" | "lease">[],
): ReadonlyMap<string, RackReport> {
  const reports = new Map<string, { interfaces: HostInterface[]; interfacesAt: number | null; leases: LeaseReport[] }>();
  for (const row of interfaces) {
    const list = JSON.parse(row.interfaces) as HostInterface[];
    reports.set(row.rack_id, { interfaces: list, interfacesAt: row.reported_at, leases: [] });
  }
  for (const row of leases) {
    const report = reports.get(row.rack_id) ?? { interfaces: [], interfacesAt: null, leases: [] };
    report.leases.push(JSON.parse(row.lease) as LeaseReport);
    reports.set(row.rack_id, report);
  }
  return reports;
}
