import { assert, type HardwareAddress, type LedgerContent } from "@berth/core";
import {
  allocationFromRow,
  keptAnswerFromRow,
  machineFromRow,
  nameRecordFromRow,
  quarantineFromRow,
  reservationFromRow,
  subnetFromRow,
} from "./ledger-rows.js";
import type { SqliteConnection } from "./sqlite-connection.js";
import { auditRow } from "./sqlite-audit.js";
import { SqliteLedgerWriter } from "./sqlite-ledger-writer.js";
import type { LedgerStore } from "./store.js";

export function sqliteLedger(connection: SqliteConnection): LedgerStore {
  const writer = new SqliteLedgerWriter(connection);
  const ledgerRow = connection.query.updateTable("ledger").set((row) => ({ revision: row("revision", "+", 1) }));
  const nextRevision = connection.constant(ledgerRow.returning("revision"));
  return {
    load: () => new Promise((resolve) => resolve(loadLedger(connection))),
    commit: (changes, audit) =>
      new Promise((resolve) => {
        const revision = connection.transaction(() => {
          writer.write(changes);
          for (const entry of audit) connection.insert("audit", auditRow(entry));
          return nextRevision().revision;
        });
        resolve(revision);
      }),
    shared: null,
  };
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
    reservations: connection
      .all(query.selectFrom("reservation").selectAll().orderBy("created_at").orderBy("id"))
      .map(reservationFromRow),
    records: connection
      .all(query.selectFrom("name_record").selectAll().orderBy("created_at").orderBy("id"))
      .map(nameRecordFromRow),
    answers: connection.all(query.selectFrom("kept_answer").selectAll().orderBy("at")).map(keptAnswerFromRow),
    nextSubnetId: ledger.next_subnet,
  };
  return { revision: ledger.revision, content };
}
