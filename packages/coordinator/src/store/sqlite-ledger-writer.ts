import { assert, type LedgerChange } from "@berth/core";
import type { Insertable } from "kysely";
import { addressBlob } from "./address-blob.js";
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
} from "./ledger-rows.js";
import type { Tables } from "./tables.js";
import type { SqliteConnection } from "./sqlite-connection.js";

type ChangeOf<Table extends LedgerChange["table"]> = Extract<LedgerChange, { table: Table }>;

interface Gathered {
  readonly machine: Insertable<Tables["machine"]>[];
  readonly nic: Insertable<Tables["nic"]>[];
  readonly allocation: Insertable<Tables["allocation"]>[];
}

function nothing(): Gathered {
  return { machine: [], nic: [], allocation: [] };
}

/** Writes the changes of commits, each inside its transaction. Nobody else may write subnets. */
export class SqliteLedgerWriter {
  private readonly connection: SqliteConnection;
  /** Read once, not once an allocation; forgotten when a subnet changes, and again after it, since its commit may fail. */
  private readonly places = new Map<number, Place>();

  private gathered = nothing();

  constructor(connection: SqliteConnection) {
    this.connection = connection;
  }

  write(changes: readonly LedgerChange[]): void {
    try {
      for (const change of changes) {
        if (this.gather(change)) continue;
        this.insertGathered();
        this.writeOne(change);
      }
      this.insertGathered();
    } finally {
      this.gathered = nothing();
      if (changes.some(({ table }) => table === "subnet")) this.places.clear();
    }
  }

  /** What only adds waits for others of its kind: among inserts the order means nothing, as long as each comes after those that it refers to. */
  private gather(change: LedgerChange): boolean {
    if (change.table === "machine" && change.before === null && change.after !== null) {
      this.gathered.machine.push(machineRow(change.after));
      this.gathered.nic.push(...nicRows(change.after));
      return true;
    }
    if (change.table === "allocation" && change.before === null && change.after !== null) {
      this.gathered.allocation.push(allocationRow(change.after, this.placeOf(change.after.subnetId)));
      return true;
    }
    return false;
  }

  private insertGathered(): void {
    const { allocation, machine, nic } = this.gathered;
    this.gathered = nothing();
    this.connection.insert("machine", machine);
    this.connection.insert("nic", nic);
    this.connection.insert("allocation", allocation);
  }

  private writeOne(change: LedgerChange): void {
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
        this.connection.run(this.connection.query.updateTable("ledger").set({ next_subnet: change.after }));
    }
  }

  private writeSubnet({ before, after }: ChangeOf<"subnet">): void {
    const { connection } = this;
    this.places.clear();
    if (after === null) {
      if (before !== null) connection.run(connection.query.deleteFrom("subnet").where("id", "=", before.id));
    } else if (before === null) {
      connection.insert("subnet", [subnetRow(after)]);
    } else {
      connection.run(connection.query.updateTable("subnet").set(subnetRow(after)).where("id", "=", before.id));
    }
  }

  private writeMachine({ before, after }: ChangeOf<"machine">): void {
    const { connection } = this;
    const { query } = connection;
    const nicsStay = before !== null && after !== null && String(before.nics) === String(after.nics);
    if (before !== null && !nicsStay) connection.run(query.deleteFrom("nic").where("machine_id", "=", before.id));
    if (before === null) return; // gathered
    if (after === null) {
      connection.run(query.deleteFrom("machine").where("id", "=", before.id));
      return;
    }
    connection.run(query.updateTable("machine").set(machineRow(after)).where("id", "=", before.id));
    if (!nicsStay) connection.insert("nic", nicRows(after));
  }

  private writeAllocation({ before, after }: ChangeOf<"allocation">): void {
    const { connection } = this;
    const { query } = connection;
    if (before === null) return; // gathered
    if (after === null) {
      connection.run(query.deleteFrom("allocation").where("id", "=", before.id));
      return;
    }
    const row = allocationRow(after, this.placeOf(after.subnetId));
    connection.run(query.updateTable("allocation").set(row).where("id", "=", before.id));
  }

  private placeOf(subnetId: number): Place {
    const known = this.places.get(subnetId);
    if (known !== undefined) return known;
    const columns = ["site", "family", "first_address", "last_address", "domain"] as const;
    const { connection } = this;
    const [place] = connection.all(connection.query.selectFrom("subnet").select(columns).where("id", "=", subnetId));
    assert(place !== undefined, `an allocation in subnet ${subnetId}, which the database does not have`);
    this.places.set(subnetId, place);
    return place;
  }

  private writeQuarantine({ before, after }: ChangeOf<"quarantine">): void {
    const { connection } = this;
    if (before !== null) {
      const place = connection.query.deleteFrom("quarantine").where("site", "=", before.site);
      connection.run(place.where("address", "=", addressBlob(before.address)));
    }
    if (after !== null) connection.insert("quarantine", [quarantineRow(after)]);
  }

  private writeReservation({ before, after }: ChangeOf<"reservation">): void {
    const { connection } = this;
    if (before !== null) connection.run(connection.query.deleteFrom("reservation").where("id", "=", before.id));
    if (after !== null) connection.insert("reservation", [reservationRow(after, this.placeOf(after.subnetId))]);
  }

  private writeRecord({ before, after }: ChangeOf<"record">): void {
    const { connection } = this;
    if (before !== null) connection.run(connection.query.deleteFrom("name_record").where("id", "=", before.id));
    if (after !== null) connection.insert("name_record", [nameRecordRow(after)]);
  }

  private writeAnswer({ before, after }: ChangeOf<"answer">): void {
    const { connection } = this;
    if (before !== null) {
      const ofActor = connection.query.deleteFrom("kept_answer").where("actor", "=", before.actor);
      connection.run(ofActor.where("key", "=", before.key));
    }
    if (after !== null) connection.insert("kept_answer", [keptAnswerRow(after)]);
  }
}
