import {
  canonicalJson,
  type Allocation,
  type LedgerChange,
  type LedgerContent,
  type Machine,
  type Reservation,
} from "@berth/core";
import { expect } from "vitest";
import type { AuditRecord } from "../../../../packages/coordinator/src/store/store.js";
import type { Told } from "./caller.js";

type Row = { readonly id?: string | number; readonly site?: string; readonly address?: string };

/**
 * The ledger as a person would make it from the audit log: one change after the other, in the order of the commits, each held against what the
 * changes before it left. Slow, plain, and told of nothing else.
 */
export class AuditModel {
  /** What each allocation ever was. */
  readonly versions = new Map<string, Set<string>>();
  made = 0;
  private readonly rows = new Map<string, Row>();
  private nextSubnetId = 1;

  apply({ number, action, detail }: AuditRecord): void {
    const why = `entry ${number}, ${action}`;
    for (const change of detail as LedgerChange[]) this.change(change, why);
    this.check(why);
  }

  private change(change: LedgerChange, why: string): void {
    if (change.table === "next-subnet") {
      expect(change.before, why).toBe(this.nextSubnetId);
      this.nextSubnetId = change.after;
      return;
    }
    const [before, after] = [change.before as Row | null, change.after as Row | null];
    const key = (row: Row): string => `${change.table} ${String(row.id ?? `${row.site ?? ""} ${row.address ?? ""}`)}`;
    if (before !== null) {
      expect(this.rows.get(key(before)), why).toEqual(before);
      this.rows.delete(key(before));
    }
    if (after === null) return;
    expect(this.rows.has(key(after)), `${why}: ${key(after)} is there already`).toBe(false);
    this.rows.set(key(after), after);
    if (change.table !== "allocation") return;
    if (before === null) this.made += 1;
    const id = String(after.id);
    const known = this.versions.get(id) ?? new Set<string>();
    this.versions.set(id, known.add(canonicalJson(after)));
  }

  of<T>(table: LedgerChange["table"]): T[] {
    return [...this.rows].flatMap(([key, row]) => (key.startsWith(`${table} `) ? [row as T] : []));
  }

  private check(why: string): void {
    const allocations = this.of<Allocation>("allocation");
    for (const field of ["address", "name", "ownerKey"] as const) {
      const values = allocations.map((allocation) => allocation[field]);
      expect(new Set(values).size, `${why}: a ${field} is given twice`).toBe(values.length);
    }
    const nics = this.of<Machine>("machine").flatMap((machine) => machine.nics);
    expect(new Set(nics).size, `${why}: one NIC on two machines`).toBe(nics.length);
    const reserved = new Set(this.of<Reservation>("reservation").map(({ first }) => first));
    const resting = new Set(this.of<{ address: string }>("quarantine").map(({ address }) => address));
    const odd = allocations.filter(({ address }) => reserved.has(address) || resting.has(address));
    expect(odd, `${why}: reserved or resting, and given`).toEqual([]);
  }

  /** The ledger holds what the model holds, and what each caller was told is what was committed, once. */
  compare(content: LedgerContent, told: readonly Told[]): void {
    const sorted = (rows: readonly unknown[]): string[] => rows.map((row) => canonicalJson(row)).sort();
    expect(sorted(content.allocations)).toEqual(sorted(this.of("allocation")));
    expect(sorted(content.machines)).toEqual(sorted(this.of("machine")));
    expect(sorted(content.quarantines)).toEqual(sorted(this.of("quarantine")));
    expect(sorted(content.reservations)).toEqual(sorted(this.of("reservation")));
    expect(sorted(content.records)).toEqual(sorted(this.of("record")));
    expect(sorted(content.subnets)).toEqual(sorted(this.of("subnet")));
    expect(content.nextSubnetId).toBe(this.nextSubnetId);
    for (const { allocation } of told)
      expect(
        this.versions.get(allocation.id)?.has(canonicalJson(allocation)),
        `${allocation.address} was told and never committed`,
      ).toBe(true);
    const created = told.filter((answer) => answer.created).map(({ allocation }) => allocation.id);
    expect(new Set(created).size, "one allocation told as new twice").toBe(created.length);
    expect(created.length, "allocations that nobody was told of").toBe(this.made);
  }
}
