import type { HostInterface, IpAddress, LeaseReport } from "@berth/core";
import { describeError, EnvironmentError } from "@berth/host";
import type { StorePorts } from "./open-sqlite.js";
import type { RackReport, ReportStore } from "./store.js";

const FLUSH_AFTER_MS = 1000;

/** What is not yet written of one rack; later calls replace earlier ones, so the queue never holds more than the rack's own table. */
export interface PendingReport {
  interfaces: { readonly list: readonly HostInterface[]; readonly at: number } | null;
  /** All other leases of the rack go before `leases` is written. */
  replace: boolean;
  /** Null: the lease goes. */
  readonly leases: Map<IpAddress, LeaseReport | null>;
}

/** How an engine keeps reports. */
export interface ReportEngine {
  load(): Promise<ReadonlyMap<string, RackReport>>;
  /** One transaction for all of it. */
  write(batch: ReadonlyMap<string, PendingReport>): Promise<void>;
}

/** Reports written behind: gathered for a second, then one transaction. {@link QueuedReports.close} writes the rest. */
export class QueuedReports implements ReportStore {
  readonly #engine: ReportEngine;
  readonly #ports: StorePorts;
  #queue = new Map<string, PendingReport>();
  readonly #closing = new AbortController();
  #writer: Promise<void> | null = null;
  /** Batches go one after the other. */
  #writing: Promise<void> = Promise.resolve();
  #failing = false;

  constructor(engine: ReportEngine, ports: StorePorts) {
    this.#engine = engine;
    this.#ports = ports;
  }

  load(): Promise<ReadonlyMap<string, RackReport>> {
    return this.#engine.load();
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

  /** What is queued of a rack that is removed must not come back with the next write; resolves when nothing of it is on the way. */
  async forget(rackId: string): Promise<void> {
    this.#queue.delete(rackId);
    await this.#writing.catch(() => undefined); // its own caller is told
    this.#queue.delete(rackId); // a batch that failed came back
  }

  flush(): Promise<void> {
    return this.#write();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#writer;
    await this.#write();
  }

  #pendingOf(rackId: string): PendingReport {
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
        await this.#write();
      } catch (error) {
        if (!(error instanceof EnvironmentError)) throw error;
        if (!this.#failing)
          this.#ports.log.warn({ error: describeError(error) }, "reports of racks are not written; tried again every second");
        this.#failing = true;
      }
    }
  }

  #write(): Promise<void> {
    const next = this.#writing.catch(() => undefined).then(() => this.#writeBatch()); // who asked for the one before is told
    this.#writing = next;
    return next;
  }

  async #writeBatch(): Promise<void> {
    const batch = this.#queue;
    if (batch.size === 0) return;
    this.#queue = new Map();
    try {
      await this.#engine.write(batch);
      this.#failing = false;
    } catch (error) {
      this.#putBack(batch);
      throw error;
    }
  }

  /** Under what came meanwhile, which is newer. */
  #putBack(batch: ReadonlyMap<string, PendingReport>): void {
    for (const [rackId, older] of batch) {
      const newer = this.#queue.get(rackId);
      if (newer === undefined) {
        this.#queue.set(rackId, older);
        continue;
      }
      newer.interfaces ??= older.interfaces;
      if (newer.replace) continue;
      newer.replace = older.replace;
      for (const [address, lease] of older.leases) if (!newer.leases.has(address)) newer.leases.set(address, lease);
    }
  }
}
