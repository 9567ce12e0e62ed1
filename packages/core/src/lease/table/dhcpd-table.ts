import { ipv4FromNumber, ipv4Number, parseIpAddress } from "../../address/ip.js";
import { hardwareAddressOf } from "../hardware-of.js";
import type { FailoverState, HostDeclaration, Lease, LeaseFileFamily } from "../model.js";
import type { LeaseTable } from "../reader.js";
import { sameLease } from "../same-lease.js";
import { TIME_NEVER, TIME_UNKNOWN } from "../dhcpd/time-value.js";
import { Arena } from "./arena.js";
import { HardwareIndex } from "./hardware-index.js";
import { LapseClock } from "./lapse-clock.js";
import {
  ACTIVE_BITS,
  Lease4Rows,
  READER_CHANGES,
  READER_CLOCK,
  READER_INDEX,
  RECORD_TEXT,
  WORD_BITS,
  WORD_ENDS,
  WORD_LENGTH,
  WORD_STARTS,
} from "./lease4-rows.js";
import { lease4Of } from "./lease4-view.js";
import { Lease6Records } from "./lease6-records.js";

/** A row number (IPv4) or a key (IPv6). */
type Entry = number | string;

/** The table behind the reader of dhcpd's files. What is derived (lapses, the hardware index) is brought up to date only when it is asked for. */
export class DhcpdTable implements LeaseTable {
  family: LeaseFileFamily = null;
  readonly rows4 = new Lease4Rows();
  readonly records6 = new Lease6Records();
  readonly hosts = new Map<string, HostDeclaration>();
  readonly rubouts = new Set<string>();
  readonly failover = new Map<string, FailoverState>();
  readonly #index4 = new HardwareIndex(this.rows4);
  readonly #index6 = new Map<string, Set<string>>();
  readonly #indexed6 = new Map<string, string>();
  readonly #clock = new LapseClock<Entry>({ endOf: (entry) => this.#endOf(entry), all: () => this.#entries() });

  get size(): number {
    return this.rows4.count + this.records6.records.size;
  }

  get(key: string): Lease | null {
    const record = this.records6.records.get(key);
    if (record !== undefined) return record.lease;
    const row = this.#rowOf(key);
    return row < 0 ? null : this.#lease4(row);
  }

  *leases(): Iterable<Lease> {
    for (let row = 0; row < this.rows4.count; row++) yield this.#lease4(row);
    for (const { lease } of this.records6.records.values()) yield lease;
  }

  keysOfHardware(hardwareAddress: string): readonly string[] {
    this.#deriveIndex();
    return [...this.#index4.rowsOf(hardwareAddress).map((row) => this.#key(row)), ...(this.#index6.get(hardwareAddress) ?? [])];
  }

  *keys(): Iterable<string> {
    for (let row = 0; row < this.rows4.count; row++) yield this.#key(row);
    yield* this.records6.records.keys();
  }

  takeChanges(): readonly string[] {
    const keys4 = this.rows4.takeDirty(READER_CHANGES).map((row) => this.#key(row));
    const keys6 = this.records6.takeDirty(READER_CHANGES);
    return keys6.size === 0 ? keys4 : [...keys4, ...keys6];
  }

  changesFrom(previous: LeaseTable): readonly string[] {
    const changed: string[] = [];
    const records = previous instanceof DhcpdTable ? previous : null;
    for (let row = 0; row < this.rows4.count; row++) {
      if (records !== null && this.#sameRecord(row, records)) continue;
      const lease = this.#lease4(row);
      const before = previous.get(lease.key);
      if (before === null || !sameLease(before, lease)) changed.push(lease.key);
    }
    for (const { lease } of this.records6.records.values()) {
      const before = previous.get(lease.key);
      if (before === null || !sameLease(before, lease)) changed.push(lease.key);
    }
    for (const key of previous.keys()) if (!this.#has(key)) changed.push(key);
    return changed;
  }

  nextLapse(now: number): number | null {
    this.#deriveClock();
    return this.#clock.next(now);
  }

  takeLapses(now: number): readonly string[] {
    this.#deriveClock();
    return this.#clock.take(now).map((entry) => this.#key(entry));
  }

  /** The first failover peer of the file changes what may be given away of every lease. */
  setFailover(name: string, state: FailoverState): void {
    const first = this.failover.size === 0;
    this.failover.set(name, state);
    if (first) for (let row = 0; row < this.rows4.count; row++) this.rows4.markDirty(row);
  }

  setHost(host: HostDeclaration): void {
    this.rubouts.delete(host.name);
    this.hosts.set(host.name, host);
  }

  rubOut(name: string): void {
    this.hosts.delete(name);
    this.rubouts.add(name);
  }

  /**
   * Whether the record of that row stands byte by byte in the other table: what a rewrite leaves of nearly all leases, and a hundred times
   * cheaper to find out than by reading both. Records that differ in bytes may still say the same.
   */
  #sameRecord(row: number, previous: DhcpdTable): boolean {
    const { view, bytes, at } = this.rows4.record(row);
    const other = previous.rows4.placeOf(this.rows4.address(row));
    if (other === 0 || this.failover.size > 0 !== previous.failover.size > 0) return false;
    const before = previous.rows4.arena.viewOf(other);
    const beforeAt = Arena.within(other);
    for (let word = WORD_STARTS; word <= WORD_BITS; word++) {
      if (view.getInt32(at + word * 4, true) !== before.getInt32(beforeAt + word * 4, true)) return false;
    }
    const text = at + RECORD_TEXT;
    return previous.rows4.sameText(other, bytes, text, text + view.getInt32(at + WORD_LENGTH * 4, true));
  }

  #lease4(row: number): Lease {
    return lease4Of(this.rows4, row, this.failover.size > 0);
  }

  #has(key: string): boolean {
    return this.records6.records.has(key) || this.#rowOf(key) >= 0;
  }

  #rowOf(key: string): number {
    const address = parseIpAddress(key);
    return address === null || address.includes(":") ? -1 : this.rows4.find(ipv4Number(address) | 0);
  }

  #key(entry: Entry): string {
    return typeof entry === "string" ? entry : ipv4FromNumber(this.rows4.address(entry) >>> 0);
  }

  *#entries(): Iterable<Entry> {
    for (let row = 0; row < this.rows4.count; row++) yield row;
    yield* this.records6.records.keys();
  }

  /** The end of a lease that is in use until then: active, or without a written state, with a time. */
  #endOf(entry: Entry): number | null {
    if (typeof entry === "string") {
      const lease = this.records6.records.get(entry)?.lease;
      const bounded = lease !== undefined && (lease.bindingState ?? "active") === "active" && typeof lease.ends === "number";
      return bounded && typeof lease.ends === "number" ? lease.ends : null;
    }
    const state = this.rows4.word(entry, WORD_BITS) & 15;
    const ends = this.rows4.word(entry, WORD_ENDS) >>> 0;
    return (state === 0 || state === ACTIVE_BITS) && ends !== TIME_NEVER && ends !== TIME_UNKNOWN ? ends : null;
  }

  /** The index reads the text of every row that changed, so it is brought up to date for those who ask it and for nobody else. */
  #deriveIndex(): void {
    for (const row of this.rows4.takeDirty(READER_INDEX)) this.#index4.update(row);
    for (const key of this.records6.takeDirty(READER_INDEX)) this.#index6Update(key);
  }

  #deriveClock(): void {
    for (const row of this.rows4.takeDirty(READER_CLOCK)) this.#clock.changed(row);
    for (const key of this.records6.takeDirty(READER_CLOCK)) this.#clock.changed(key);
    this.#clock.trim(this.size);
  }

  #index6Update(key: string): void {
    const lease = this.records6.records.get(key)?.lease;
    const address = lease === undefined ? null : hardwareAddressOf(lease);
    const before = this.#indexed6.get(key);
    if (before !== undefined && before !== address) {
      const keys = this.#index6.get(before);
      keys?.delete(key);
      if (keys?.size === 0) this.#index6.delete(before);
      this.#indexed6.delete(key);
    }
    if (address === null || before === address) return;
    this.#indexed6.set(key, address);
    const keys = this.#index6.get(address) ?? new Set<string>();
    this.#index6.set(address, keys.add(key));
  }
}
