import type { HostInterface, IpAddress, LeaseReport } from "@berth/core";
import { describeError, EnvironmentError } from "@berth/host";
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

/** Reports written behind: gathered for a second, then one transaction. {@link SqliteReports.close} writes the rest. */
export class SqliteReports implements ReportStore {
  readonly #connection: SqliteConnection;
  readonly #ports: StorePorts;
  readonly #queue = new Map<string, Pending>();
  readonly #closing = new AbortController();
  #writer: Promise<void> | null = null;
  #failing = false;

  constructor(connection: SqliteConnection, ports: StorePorts) {
    this.#connection = connection;
    this.#ports = ports;
  }

  load(): Promise<ReadonlyMap<string, RackReport>> {
    return new Promise((resolve) => resolve(loadReports(this.#connection)));
  }

  saveInterfaces(rackId: string, list: readonly HostInterface[], at: number): void {
    this.#pendingOf(rackId).interfaces = { list, at };
  }

  changeLeases(rackId: string, changed: readonly LeaseReport[], gone: readonly IpAddress[]): void {
    const { leases } = this.#pendingOf(rackId);
    for (const lease of changed) leases.set(lease.address, lease);
    for (const address of gone) leases.set(address, null);
  }

  replaceLeases(rackId: string, leases: readonly LeaseReport[]): void {
    const pending = this.#pendingOf(rackId);
    pending.replace = true;
    pending.leases.clear();
    for (const lease of leases) pending.leases.set(lease.address, lease);
  }

  /** What is queued of a rack that is removed must not come back with the next write. */
  forget(rackId: string): void {
    this.#queue.delete(rackId);
  }

  flush(): Promise<void> {
    return new Promise((resolve) => {
      this.#write();
      resolve();
    });
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#writer;
    this.#write();
  }

  #pendingOf(rackId: string): Pending {
    let pending = this.#queue.get(rackId);
    if (pending === undefined) {
      pending = { interfaces: null, replace: false, leases: new Map() };
      this.#queue.set(rackId, pending);
    }
    if (!this.#closing.signal.aborted) this.#start();
    return pending;
  }

  #start(): void {
    this.#writer ??= this.#writeLater().finally(() => {
      this.#writer = null;
      if (this.#queue.size > 0 && !this.#closing.signal.aborted) this.#start();
    });
  }

  async #writeLater(): Promise<void> {
    const { signal } = this.#closing;
    while (this.#queue.size > 0 && !signal.aborted) {
      await this.#ports.clock.sleep(FLUSH_AFTER_MS, signal).catch(() => undefined); // closing ends the wait, close() writes
      if (signal.aborted) return;
      try {
        this.#write();
      } catch (error) {
        if (!(error instanceof EnvironmentError)) throw error;
        if (!this.#failing)
          this.#ports.log.warn({ error: describeError(error) }, "reports of racks are not written; tried again every second");
        this.#failing = true;
      }
    }
  }

  #write(): void {
    if (this.#queue.size === 0) return;
    this.#connection.transaction(() => {
      for (const [rackId, pending] of this.#queue) writeRack(this.#connection, rackId, pending);
    });
    this.#queue.clear();
    this.#failing = false;
  }
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
