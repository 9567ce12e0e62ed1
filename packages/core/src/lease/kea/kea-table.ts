import { hardwareAddressOf } from "../hardware-of.js";
import type { FailoverState, HostDeclaration, Lease, LeaseFileFamily } from "../model.js";
import type { LeaseTable } from "../reader.js";
import { sameLease } from "../same-lease.js";
import { LapseClock } from "../table/lapse-clock.js";
import { parseKeaLine, type KeaColumns } from "./kea-line.js";

/** The last line of an address. The lease is made of it when somebody asks: thousands of leases lie here that nobody looks at. */
interface Row {
  readonly line: string;
  readonly columns: KeaColumns;
  /** Seconds since 1970 while it is in use until then, else null. */
  readonly ends: number | null;
  readonly hardware: string | null;
}

const NO_HOSTS: ReadonlyMap<string, HostDeclaration> = new Map();
const NO_RUBOUTS: ReadonlySet<string> = new Set();
const NO_FAILOVER: ReadonlyMap<string, FailoverState> = new Map();

/** The leases of one Kea server. Hosts and failover states are not in its lease file. */
export class KeaTable implements LeaseTable {
  readonly hosts = NO_HOSTS;
  readonly rubouts = NO_RUBOUTS;
  readonly failover = NO_FAILOVER;
  family: LeaseFileFamily = null;
  readonly #rows = new Map<string, Row>();
  readonly #byHardware = new Map<string, Set<string>>();
  readonly #clock = new LapseClock<string>({
    endOf: (key) => this.#rows.get(key)?.ends ?? null,
    all: () => this.#rows.keys(),
  });
  #changed = new Set<string>();

  get size(): number {
    return this.#rows.size;
  }

  get(key: string): Lease | null {
    const row = this.#rows.get(key);
    return row === undefined ? null : leaseOf(row);
  }

  *leases(): Iterable<Lease> {
    for (const row of this.#rows.values()) {
      const lease = leaseOf(row);
      if (lease !== null) yield lease;
    }
  }

  keys(): Iterable<string> {
    return this.#rows.keys();
  }

  keysOfHardware(hardwareAddress: string): readonly string[] {
    return [...(this.#byHardware.get(hardwareAddress) ?? [])];
  }

  /** The line that made this lease replaces what was known of its key. */
  put(lease: Lease, line: string, columns: KeaColumns): void {
    const before = this.#rows.get(lease.key);
    if (before?.line === line && before.columns === columns) return;
    const hardware = hardwareAddressOf(lease);
    const bounded = lease.bindingState === "active" && typeof lease.ends === "number" ? lease.ends : null;
    this.#rows.set(lease.key, { line, columns, ends: bounded, hardware });
    this.#changed.add(lease.key);
    this.#clock.changed(lease.key);
    this.#clock.trim(this.#rows.size);
    if (before?.hardware === hardware) return;
    this.#unlink(lease.key, before);
    if (hardware === null) return;
    const keys = this.#byHardware.get(hardware) ?? new Set();
    this.#byHardware.set(hardware, keys.add(lease.key));
  }

  remove(key: string): void {
    const row = this.#rows.get(key);
    if (row === undefined) return;
    this.#rows.delete(key);
    this.#changed.add(key);
    this.#unlink(key, row);
  }

  takeChanges(): readonly string[] {
    const keys = [...this.#changed];
    this.#changed = new Set();
    return keys;
  }

  changesFrom(previous: LeaseTable): readonly string[] {
    const keys: string[] = [];
    for (const [key, row] of this.#rows) {
      const [now, before] = [leaseOf(row), previous.get(key)];
      if (now === null || before === null || !sameLease(before, now)) keys.push(key);
    }
    for (const { key } of previous.leases()) if (!this.#rows.has(key)) keys.push(key);
    return keys;
  }

  nextLapse(now: number): number | null {
    return this.#clock.next(now);
  }

  takeLapses(now: number): readonly string[] {
    return this.#clock.take(now);
  }

  #unlink(key: string, row: Row | undefined): void {
    if (row === undefined || row.hardware === null) return;
    const keys = this.#byHardware.get(row.hardware);
    keys?.delete(key);
    if (keys?.size === 0) this.#byHardware.delete(row.hardware);
  }
}

function leaseOf(row: Row): Lease | null {
  const parsed = parseKeaLine(row.line, row.columns);
  return parsed.kind === "lease" ? parsed.lease : null;
}
