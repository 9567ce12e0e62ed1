import { assert, type LedgerContent } from "@berth/core";
import { CompiledQuery, type Kysely, type Transaction } from "kysely";
import { contentSink, type LedgerSink } from "../ledger-sink.js";
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

/** The whole ledger of either engine; a snapshot's query makes it one moment's. */
export async function loadLedger(
  query: Kysely<Tables>,
): Promise<{ readonly position: Position; readonly content: LedgerContent }> {
  const ledger = await query.selectFrom("ledger").selectAll().executeTakeFirst();
  assert(ledger !== undefined, "the ledger has lost its row");
  const { content, sink } = contentSink();
  for (const { query: question, row, end } of ledgerQuestions(query, sink)) {
    const { rows } = await query.executeQuery(question.compile());
    for (const each of rows) row(each as never);
    end?.();
  }
  sink({ table: "next-subnet", before: ledger.next_subnet, after: ledger.next_subnet });
  return { position: { revision: ledger.revision, head: ledger.head }, content: content() };
}
