import { assert, type HardwareAddress, type LedgerContent } from "@berth/core";
import { CompiledQuery, type Kysely, type Transaction } from "kysely";
import {
  allocationFromRow,
  keptAnswerFromRow,
  machineFromRow,
  nameRecordFromRow,
  quarantineFromRow,
  reservationFromRow,
  subnetFromRow,
} from "../ledger-rows.js";
import type { LedgerSink } from "../ledger-sink.js";
import { ledgerQuestions } from "../read-ledger.js";
import type { Tables } from "../tables.js";

/** Which commit a memory stands at. */
export interface Position {
  readonly revision: number;
  readonly head: string;
}

const ROWS_AT_ONCE = 1000;

/** All records through cursors, a few at a time; the transaction must see one moment. */
export async function readLedger(transaction: Transaction<Tables>, sink: LedgerSink): Promise<Position> {
  const ledger = await transaction.selectFrom("ledger").selectAll().executeTakeFirst();
  assert(ledger !== undefined, "the ledger has lost its row");
  for (const { query, row, end } of ledgerQuestions(transaction, sink)) {
    await transaction.executeQuery(CompiledQuery.raw(`declare ledger_rows cursor for ${query.compile().sql}`));
    for (let count = ROWS_AT_ONCE; count === ROWS_AT_ONCE; ) {
      const { rows } = await transaction.executeQuery(CompiledQuery.raw(`fetch ${ROWS_AT_ONCE} from ledger_rows`));
      for (const each of rows) row(each as never);
      count = rows.length;
    }
    await transaction.executeQuery(CompiledQuery.raw("close ledger_rows"));
    end?.();
  }
  sink({ table: "next-subnet", before: ledger.next_subnet, after: ledger.next_subnet });
  return { revision: ledger.revision, head: ledger.head };
}

/** The whole ledger; a snapshot's query makes it one moment's. */
export async function loadLedger(
  query: Kysely<Tables>,
): Promise<{ readonly position: Position; readonly content: LedgerContent }> {
  const ledger = await query.selectFrom("ledger").selectAll().executeTakeFirst();
  assert(ledger !== undefined, "the ledger has lost its row");
  const subnets = await query.selectFrom("subnet").selectAll().orderBy("id").execute();
  const nicsOf = await loadNics(query);
  const machines = await query.selectFrom("machine").selectAll().orderBy("created_at").orderBy("id").execute();
  const allocations = await query.selectFrom("allocation").selectAll().orderBy("created_at").orderBy("id").execute();
  const quarantines = await query.selectFrom("quarantine").selectAll().orderBy("released_at").execute();
  const reservations = await query.selectFrom("reservation").selectAll().orderBy("created_at").orderBy("id").execute();
  const records = await query.selectFrom("name_record").selectAll().orderBy("created_at").orderBy("id").execute();
  const answers = await query.selectFrom("kept_answer").selectAll().orderBy("at").execute();
  return {
    position: { revision: ledger.revision, head: ledger.head },
    content: {
      subnets: subnets.map(subnetFromRow),
      machines: machines.map((row) => machineFromRow(row, nicsOf.get(row.id) ?? [])),
      allocations: allocations.map(allocationFromRow),
      quarantines: quarantines.map(quarantineFromRow),
      reservations: reservations.map(reservationFromRow),
      records: records.map(nameRecordFromRow),
      answers: answers.map(keptAnswerFromRow),
      nextSubnetId: ledger.next_subnet,
    },
  };
}

async function loadNics(query: Kysely<Tables>): Promise<ReadonlyMap<string, readonly HardwareAddress[]>> {
  const nicsOf = new Map<string, HardwareAddress[]>();
  const rows = await query.selectFrom("nic").selectAll().orderBy("machine_id").orderBy("position").execute();
  for (const { machine_id: machine, hardware_address: nic } of rows) {
    const known = nicsOf.get(machine);
    if (known === undefined) nicsOf.set(machine, [nic as HardwareAddress]);
    else known.push(nic as HardwareAddress);
  }
  return nicsOf;
}
