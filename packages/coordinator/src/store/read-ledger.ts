import type { HardwareAddress, LedgerChange } from "@berth/core";
import type { Compilable, Kysely, Selectable } from "kysely";
import {
  allocationFromRow,
  keptAnswerFromRow,
  machineFromRow,
  nameRecordFromRow,
  quarantineFromRow,
  reservationFromRow,
  subnetFromRow,
} from "./ledger-rows.js";
import type { LedgerSink } from "./ledger-sink.js";
import type { Tables } from "./tables.js";

/** One question of those that read a whole ledger, and what takes its rows; `end` when there are no more. */
export interface LedgerQuestion {
  readonly query: Compilable;
  readonly row: (row: never) => void;
  readonly end?: () => void;
}

type MachineRow = Selectable<Tables["machine"]> & { readonly nic: string | null };

/** The questions for all records of a ledger, in the order in which records refer to each other. Each engine asks them row by row in its own way. */
export function ledgerQuestions(query: Kysely<Tables>, sink: LedgerSink): readonly LedgerQuestion[] {
  const asked = <Row>(select: Compilable, change: (row: Row) => LedgerChange): LedgerQuestion => ({
    query: select,
    row: (row: Row) => sink(change(row)),
  });
  return [
    asked(query.selectFrom("subnet").selectAll().orderBy("id"), (row: Selectable<Tables["subnet"]>) =>
      added("subnet", subnetFromRow(row)),
    ),
    machines(query, sink),
    asked(
      query.selectFrom("allocation").selectAll().orderBy("created_at").orderBy("id"),
      (row: Selectable<Tables["allocation"]>) => added("allocation", allocationFromRow(row)),
    ),
    asked(query.selectFrom("quarantine").selectAll().orderBy("released_at"), (row: Selectable<Tables["quarantine"]>) =>
      added("quarantine", quarantineFromRow(row)),
    ),
    asked(
      query.selectFrom("reservation").selectAll().orderBy("created_at").orderBy("id"),
      (row: Selectable<Tables["reservation"]>) => added("reservation", reservationFromRow(row)),
    ),
    asked(
      query.selectFrom("name_record").selectAll().orderBy("created_at").orderBy("id"),
      (row: Selectable<Tables["name_record"]>) => added("record", nameRecordFromRow(row)),
    ),
    asked(query.selectFrom("kept_answer").selectAll().orderBy("at"), (row: Selectable<Tables["kept_answer"]>) =>
      added("answer", keptAnswerFromRow(row)),
    ),
  ];
}

/** A row for each NIC of each machine, those of one behind each other. */
function machines(query: Kysely<Tables>, sink: LedgerSink): LedgerQuestion {
  let machine: MachineRow | null = null;
  let nics: HardwareAddress[] = [];
  const end = (): void => {
    if (machine !== null) sink(added("machine", machineFromRow(machine, nics)));
    machine = null;
    nics = [];
  };
  return {
    query: query
      .selectFrom("machine")
      .leftJoin("nic", "nic.machine_id", "machine.id")
      .selectAll("machine")
      .select("nic.hardware_address as nic")
      .orderBy("machine.created_at")
      .orderBy("machine.id")
      .orderBy("nic.position"),
    row: (row: MachineRow) => {
      if (machine?.id !== row.id) end();
      machine = row;
      if (row.nic !== null) nics.push(row.nic as HardwareAddress);
    },
    end,
  };
}

function added<Table extends LedgerChange["table"]>(
  table: Table,
  after: Extract<LedgerChange, { readonly table: Table }>["after"],
): LedgerChange {
  // The type of a union's member is lost when it is put together from its parts.
  return { table, before: null, after } as LedgerChange;
}
