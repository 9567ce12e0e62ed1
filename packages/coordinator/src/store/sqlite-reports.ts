import type { HostInterface, IpAddress, LeaseReport } from "@berth/core";
import { describeError } from "@berth/host";
import { addressBlob } from "./address-blob.js";
import type { StorePorts } from "./open-sqlite.js";
import type { SqliteConnection } from "./sqlite-connection.js";
import type { RackReport, ReportStore } from "./store.js";

const FLUSH_AFTER_MS = 1000;

/** What is not yet written of one rack; later calls replace earlier ones, so the queue never holds more than the rack's own table. */
interface Pending {
  interfaces: { readonly list: readonly HostInterface[]; readonly at: number } | null;
  /** All other leases of the rack go before `leases` is written. */
  replace: boolean;
  /** Null: the lease goes. */
  readonly leases: Map<IpAddress, LeaseReport | null>;
}

/** Reports written behind: gathered for a second, then one transaction. `close` writes the rest. */
export function sqliteReports(connection: SqliteConnection, ports: StorePorts): ReportStore & { close(): Promise<void> } {
  const queue = new Map<string, Pending>();
  const closing = new AbortController();
  let timer: Promise<void> | null = null;
  let failing = false;

  function write(): void {
    if (queue.size === 0) return;
    connection.transaction(() => {
      for (const [rackId, pending] of queue) writeRack(connection, rackId, pending);
    });
    queue.clear();
    failing = false;
  }

  async function writeLater(): Promise<void> {
    while (queue.size > 0 && !closing.signal.aborted) {
      await ports.clock.sleep(FLUSH_AFTER_MS, closing.signal).catch(() => undefined); // closing ends the wait, close() writes
      if (closing.signal.aborted) return;
      try {
        write();
      } catch (error) {
        if (!failing)
          ports.log.warn({ error: describeError(error) }, "reports of racks are not written; tried again every second");
        failing = true;
      }
    }
  }

  function pendingOf(rackId: string): Pending {
    let pending = queue.get(rackId);
    if (pending === undefined) {
      pending = { interfaces: null, replace: false, leases: new Map() };
      queue.set(rackId, pending);
    }
    start();
    return pending;
  }

  function start(): void {
    timer ??= writeLater().finally(() => {
      timer = null;
      if (queue.size > 0 && !closing.signal.aborted) start();
    });
  }

  return {
    load: () => new Promise((resolve) => resolve(loadReports(connection))),
    saveInterfaces(rackId, list, at) {
      pendingOf(rackId).interfaces = { list, at };
    },
    changeLeases(rackId, changed, gone) {
      const { leases } = pendingOf(rackId);
      for (const lease of changed) leases.set(lease.address, lease);
      for (const address of gone) leases.set(address, null);
    },
    replaceLeases(rackId, leases) {
      const pending = pendingOf(rackId);
      pending.replace = true;
      pending.leases.clear();
      for (const lease of leases) pending.leases.set(lease.address, lease);
    },
    flush: () =>
      new Promise((resolve) => {
        write();
        resolve();
      }),
    async close() {
      closing.abort();
      await timer;
      write();
    },
  };
}

function writeRack(connection: SqliteConnection, rackId: string, pending: Pending): void {
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
  const reports = new Map<string, { interfaces: HostInterface[]; interfacesAt: number | null; leases: LeaseReport[] }>();
  for (const row of connection.all(query.selectFrom("rack_interfaces").selectAll())) {
    const interfaces = JSON.parse(row.interfaces) as HostInterface[];
    reports.set(row.rack_id, { interfaces, interfacesAt: row.reported_at, leases: [] });
  }
  for (const row of connection.all(query.selectFrom("rack_lease").select(["rack_id", "lease"]).orderBy("address"))) {
    const report = reports.get(row.rack_id) ?? { interfaces: [], interfacesAt: null, leases: [] };
    report.leases.push(JSON.parse(row.lease) as LeaseReport);
    reports.set(row.rack_id, report);
  }
  return reports;
}
