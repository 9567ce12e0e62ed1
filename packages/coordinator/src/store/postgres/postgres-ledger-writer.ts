import { assert, type LedgerChange } from "@berth/core";
import type { Insertable, Kysely } from "kysely";
import { addressBlob } from "../address-blob.js";
import {
  allocationRow,
  keptAnswerRow,
  machineRow,
  nameRecordRow,
  nicRows,
  quarantineRow,
  reservationRow,
  subnetRow,
  type Place,
} from "../ledger-rows.js";
import type { Tables } from "../tables.js";
import { insertRows } from "./insert-rows.js";

type ChangeOf<Table extends LedgerChange["table"]> = Extract<LedgerChange, { table: Table }>;

/** What is inserted together, each after those that it refers to. */
const GATHERED = ["machine", "nic", "allocation", "quarantine", "reservation", "name_record", "kept_answer"] as const;
type Gathered = { [Name in (typeof GATHERED)[number]]?: Insertable<Tables[Name]>[] };

/**
 * Writes the changes of one commit. New rows are gathered, tables that others refer to first, and written together before anything that is no
 * insert, and at the end: among inserts their order means nothing.
 */
export class PostgresLedgerWriter {
  private readonly transaction: Kysely<Tables>;
  /** Read once a commit, not once an allocation. */
  private readonly places = new Map<number, Place>();
  private gathered: Gathered = {};

  constructor(transaction: Kysely<Tables>) {
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
      case "reservation":
        return this.writeReservation(change);
      case "record":
        return this.writeRecord(change);
      case "answer":
        return this.writeAnswer(change);
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
    if (before === null) this.gather("machine", machineRow(after));
    else await this.change((query) => query.updateTable("machine").set(machineRow(after)).where("id", "=", before.id));
    if (!nicsStay) this.gather("nic", ...nicRows(after));
  }

  private async writeAllocation({ before, after }: ChangeOf<"allocation">): Promise<void> {
    if (after === null) {
      if (before !== null) await this.change((query) => query.deleteFrom("allocation").where("id", "=", before.id));
      return;
    }
    const row = allocationRow(after, await this.placeOf(after.subnetId));
    if (before === null) this.gather("allocation", row);
    else await this.change((query) => query.updateTable("allocation").set(row).where("id", "=", before.id));
  }

  private async writeQuarantine({ before, after }: ChangeOf<"quarantine">): Promise<void> {
    if (before !== null) {
      const address = addressBlob(before.address);
      await this.change((query) => query.deleteFrom("quarantine").where("site", "=", before.site).where("address", "=", address));
    }
    if (after !== null) this.gather("quarantine", quarantineRow(after));
  }

  private async writeReservation({ before, after }: ChangeOf<"reservation">): Promise<void> {
    if (before !== null) await this.change((query) => query.deleteFrom("reservation").where("id", "=", before.id));
    if (after !== null) this.gather("reservation", reservationRow(after, await this.placeOf(after.subnetId)));
  }

  private async writeRecord({ before, after }: ChangeOf<"record">): Promise<void> {
    if (before !== null) await this.change((query) => query.deleteFrom("name_record").where("id", "=", before.id));
    if (after !== null) this.gather("name_record", nameRecordRow(after));
  }

  private async writeAnswer({ before, after }: ChangeOf<"answer">): Promise<void> {
    if (before !== null) {
      const { actor, key } = before;
      await this.change((query) => query.deleteFrom("kept_answer").where("actor", "=", actor).where("key", "=", key));
    }
    if (after !== null) this.gather("kept_answer", keptAnswerRow(after));
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

  private async change(build: (query: Kysely<Tables>) => { execute(): Promise<unknown> }): Promise<void> {
    await this.insertGathered();
    await build(this.transaction).execute();
  }

  private gather<Name extends keyof Gathered>(table: Name, ...rows: Insertable<Tables[Name]>[]): void {
    const known: Insertable<Tables[Name]>[] = (this.gathered[table] ??= []);
    known.push(...rows);
  }

  private async insertGathered(): Promise<void> {
    const { gathered } = this;
    this.gathered = {};
    for (const table of GATHERED) await insertRows(this.transaction, table, gathered[table] ?? []);
  }
}
