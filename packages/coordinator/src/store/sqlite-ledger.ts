import { assert } from "@berth/core";
import { contentSink, stateSink, type LedgerSink } from "./ledger-sink.js";
import { ledgerQuestions } from "./read-ledger.js";
import type { SqliteConnection } from "./sqlite-connection.js";
import { auditRow } from "./sqlite-audit.js";
import { SqliteLedgerWriter } from "./sqlite-ledger-writer.js";
import type { LedgerStore } from "./store.js";

export function sqliteLedger(connection: SqliteConnection): LedgerStore {
  const writer = new SqliteLedgerWriter(connection);
  const ledgerRow = connection.query.updateTable("ledger").set((row) => ({ revision: row("revision", "+", 1) }));
  const nextRevision = connection.constant(ledgerRow.returning("revision"));
  return {
    load: () =>
      new Promise((resolve) => {
        const { content, sink } = contentSink();
        const revision = readLedger(connection, sink);
        resolve({ revision, content: content() });
      }),
    loadState: () =>
      new Promise((resolve) => {
        const { sink, state } = stateSink();
        const revision = readLedger(connection, sink);
        resolve({ revision, state });
      }),
    commit: (changes, audit) =>
      new Promise((resolve) => {
        const revision = connection.transaction(() => {
          writer.write(changes);
          connection.insert("audit", audit.map(auditRow));
          return nextRevision().revision;
        });
        resolve(revision);
      }),
    shared: null,
  };
}

function readLedger(connection: SqliteConnection, sink: LedgerSink): number {
  const { query } = connection;
  const [ledger] = connection.all(query.selectFrom("ledger").selectAll());
  assert(ledger !== undefined, "the ledger has lost its row");
  for (const question of ledgerQuestions(query, sink)) {
    connection.each(question.query, question.row);
    question.end?.();
  }
  sink({ table: "next-subnet", before: ledger.next_subnet, after: ledger.next_subnet });
  return ledger.revision;
}
