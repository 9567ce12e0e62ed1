import { assert, type LedgerChange } from "@berth/core";
import type { Insertable, Transaction } from "kysely";
import { addressBlob } from "../address-blob.js";
import { allocationRow, machineRow, nicRows, quarantineRow, subnetRow, type Place } from "../ledger-rows.js";
import type { Tables } from "../tables.js";
import { insertRows } from "./insert-rows.js";

type ChangeOf<Table extends LedgerChange["table"]> = Extract<LedgerChange, { table: Table }>;
type New<Name extends keyof Tables> = Insertable<Tables[Name]>;

/**
 * Writes the changes of one commit. New rows are gathered, tables that others refer to first, and written together before anything that is no
 * insert, and at the end: among inserts their order means nothing.
 */
export class PostgresLedgerWriter {
  private readonly transaction: Transaction<Tables>;
  /** Read once a commit, not once an allocation. */
  private readonly places = new Map<number, Place>();
  private machines: New<"machine">[] = [];
  private nics: New<"nic">[] = [];
  private allocations: New<"allocation">[] = [];
  private quarantines: New<"quarantine">[] = [];

  constructor(transaction: Transaction<Tables>) {
    this.transaction = transaction;
  }

  async write(changes: readonly LedgerChange[]): Promise<void> {
    for (const change of changes) await this.writeOne(change);
    await this.insertGathered();
  }

  private writeOne(change: LedgerChange): Promise<void> {
    switch (change.table) {
      case "subnet":
        return this.writeSubnet(change);
      case "machine":
        return this.writeMachine(change);
      case "allocation":
        return this.writeAllocation(change);
      case "quarantine":
        return this.writeQuarantine(change);
      case "next-subnet":
        return this.change((query) => query.updateTable("ledger").set({ next_subnet: change.after }));
    }
  }

  private async writeSubnet({ before, after }: ChangeOf<"subnet">): Promise<void> {
    this.places.clear();
    if (after === null) {
      if (before !== null) await this.change((query) => query.deleteFrom("subnet").where("id", "=", before.id));
    } else if (before === null) {
      await this.change((query) => query.insertInto("subnet").values(subnetRow(after)));
    } else {
      await this.change((query) => query.updateTable("subnet").set(subnetRow(after)).where("id", "=", before.id));
    }
  }

  private async writeMachine({ before, after }: ChangeOf<"machine">): Promise<void> {
    const nicsStay = before !== null && after !== null && String(before.nics) === String(after.nics);
    if (before !== null && !nicsStay) await this.change((query) => query.deleteFrom("nic").where("machine_id", "=", before.id));
    if (after === null) {
      if (before !== null) await this.change((query) => query.deleteFrom("machine").where("id", "=", before.id));
      return;
    }
    if (before === null) this.machines.push(machineRow(after));
    else await this.change((query) => query.updateTable("machine").set(machineRow(after)).where("id", "=", before.id));
    if (!nicsStay) this.nics.push(...nicRows(after));
  }

  private async writeAllocation({ before, after }: ChangeOf<"allocation">): Promise<void> {
    if (after === null) {
      if (before !== null) await this.change((query) => query.deleteFrom("allocation").where("id", "=", before.id));
      return;
    }
    const row = allocationRow(after, await this.placeOf(after.subnetId));
    if (before === null) this.allocations.push(row);
    else await this.change((query) => query.updateTable("allocation").set(row).where("id", "=", before.id));
  }

  private async writeQuarantine({ before, after }: ChangeOf<"quarantine">): Promise<void> {
    if (before !== null) {
      const address = addressBlob(before.address);
      await this.change((query) => query.deleteFrom("quarantine").where("site", "=", before.site).where("address", "=", address));
    }
    if (after !== null) this.quarantines.push(quarantineRow(after));
  }

  private async placeOf(subnetId: number): Promise<Place> {
    const known = this.places.get(subnetId);
    if (known !== undefined) return known;
    const columns = ["site", "family", "first_address", "last_address", "domain"] as const;
    const place = await this.transaction.selectFrom("subnet").select(columns).where("id", "=", subnetId).executeTakeFirst();
    assert(place !== undefined, `an allocation in subnet ${subnetId}, which the database does not have`);
    this.places.set(subnetId, place);
    return place;
  }

  private async change(build: (query: Transaction<Tables>) => { execute(): Promise<unknown> }): Promise<void> {
    await this.insertGathered();
    await build(this.transaction).execute();
  }

  private async insertGathered(): Promise<void> {
    const { machines, nics, allocations, quarantines } = this;
    if (machines.length + nics.length + allocations.length + quarantines.length === 0) return;
    this.machines = [];
    this.nics = [];
    this.allocations = [];
    this.quarantines = [];
    await insertRows(this.transaction, "machine", machines);
    await insertRows(this.transaction, "nic", nics);
    await insertRows(this.transaction, "allocation", allocations);
    await insertRows(this.transaction, "quarantine", quarantines);
  }
}
