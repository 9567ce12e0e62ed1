import { assert, type HardwareAddress, type LedgerChange, type LedgerContent } from "@berth/core";
import type { Compilable } from "kysely";
import { addressBlob } from "./address-blob.js";
import {
  allocationFromRow,
  allocationRow,
  machineFromRow,
  machineRow,
  nicRows,
  quarantineFromRow,
  quarantineRow,
  subnetFromRow,
  subnetRow,
  type Place,
} from "./ledger-rows.js";
import type { SqliteConnection } from "./sqlite-connection.js";
import { auditRow } from "./sqlite-audit.js";
import type { LedgerStore } from "./store.js";

type ChangeOf<Table extends LedgerChange["table"]> = Extract<LedgerChange, { table: Table }>;

export function sqliteLedger(connection: SqliteConnection): LedgerStore {
  const { query } = connection;
  return {
    load: () => new Promise((resolve) => resolve(loadLedger(connection))),
    commit: (changes, audit) =>
      new Promise((resolve) => {
        const revision = connection.transaction(() => {
          for (const change of changes) for (const step of stepsOf(connection, change)) connection.run(step);
          for (const entry of audit) connection.run(query.insertInto("audit").values(auditRow(entry)));
          connection.run(query.updateTable("ledger").set((row) => ({ revision: row("revision", "+", 1) })));
          return revisionOf(connection);
        });
        resolve(revision);
      }),
  };
}

function revisionOf(connection: SqliteConnection): number {
  const [row] = connection.all(connection.query.selectFrom("ledger").select("revision"));
  assert(row !== undefined, "the ledger has lost its row");
  return row.revision;
}

function loadLedger(connection: SqliteConnection): { revision: number; content: LedgerContent } {
  const { query } = connection;
  const [ledger] = connection.all(query.selectFrom("ledger").selectAll());
  assert(ledger !== undefined, "the ledger has lost its row");
  const nics = connection.all(query.selectFrom("nic").selectAll().orderBy("machine_id").orderBy("position"));
  const nicsOf = new Map<string, HardwareAddress[]>();
  for (const { machine_id: machine, hardware_address: nic } of nics) {
    const known = nicsOf.get(machine);
    if (known === undefined) nicsOf.set(machine, [nic as HardwareAddress]);
    else known.push(nic as HardwareAddress);
  }
  const content: LedgerContent = {
    subnets: connection.all(query.selectFrom("subnet").selectAll().orderBy("id")).map(subnetFromRow),
    machines: connection
      .all(query.selectFrom("machine").selectAll().orderBy("created_at").orderBy("id"))
      .map((row) => machineFromRow(row, nicsOf.get(row.id) ?? [])),
    allocations: connection
      .all(query.selectFrom("allocation").selectAll().orderBy("created_at").orderBy("id"))
      .map(allocationFromRow),
    quarantines: connection.all(query.selectFrom("quarantine").selectAll().orderBy("released_at")).map(quarantineFromRow),
    nextSubnetId: ledger.next_subnet,
  };
  return { revision: ledger.revision, content };
}

function stepsOf(connection: SqliteConnection, change: LedgerChange): readonly Compilable[] {
  switch (change.table) {
    case "subnet":
      return subnetSteps(connection, change);
    case "machine":
      return machineSteps(connection, change);
    case "allocation":
      return allocationSteps(connection, change);
    case "quarantine":
      return quarantineSteps(connection, change);
    case "next-subnet":
      return [connection.query.updateTable("ledger").set({ next_subnet: change.after })];
  }
}

function subnetSteps({ query }: SqliteConnection, { before, after }: ChangeOf<"subnet">): readonly Compilable[] {
  if (after === null) return before === null ? [] : [query.deleteFrom("subnet").where("id", "=", before.id)];
  const row = subnetRow(after);
  return [
    before === null ? query.insertInto("subnet").values(row) : query.updateTable("subnet").set(row).where("id", "=", before.id),
  ];
}

function machineSteps({ query }: SqliteConnection, { before, after }: ChangeOf<"machine">): readonly Compilable[] {
  const steps: Compilable[] = [];
  const nicsStay = JSON.stringify(before?.nics) === JSON.stringify(after?.nics);
  if (before !== null && !nicsStay) steps.push(query.deleteFrom("nic").where("machine_id", "=", before.id));
  if (after === null) return before === null ? [] : [...steps, query.deleteFrom("machine").where("id", "=", before.id)];
  const row = machineRow(after);
  steps.push(
    before === null ? query.insertInto("machine").values(row) : query.updateTable("machine").set(row).where("id", "=", before.id),
  );
  if (!nicsStay) for (const nic of nicRows(after)) steps.push(query.insertInto("nic").values(nic));
  return steps;
}

function allocationSteps(connection: SqliteConnection, { before, after }: ChangeOf<"allocation">): readonly Compilable[] {
  const { query } = connection;
  if (after === null) return before === null ? [] : [query.deleteFrom("allocation").where("id", "=", before.id)];
  const row = allocationRow(after, placeOf(connection, after.subnetId));
  return [
    before === null
      ? query.insertInto("allocation").values(row)
      : query.updateTable("allocation").set(row).where("id", "=", before.id),
  ];
}

function placeOf(connection: SqliteConnection, subnetId: number): Place {
  const columns = ["site", "family", "first_address", "last_address", "domain"] as const;
  const [place] = connection.all(connection.query.selectFrom("subnet").select(columns).where("id", "=", subnetId));
  assert(place !== undefined, `an allocation in subnet ${subnetId}, which the database does not have`);
  return place;
}

function quarantineSteps({ query }: SqliteConnection, { before, after }: ChangeOf<"quarantine">): readonly Compilable[] {
  const steps: Compilable[] = [];
  if (before !== null) {
    const address = addressBlob(before.address);
    steps.push(query.deleteFrom("quarantine").where("site", "=", before.site).where("address", "=", address));
  }
  if (after !== null) steps.push(query.insertInto("quarantine").values(quarantineRow(after)));
  return steps;
}
