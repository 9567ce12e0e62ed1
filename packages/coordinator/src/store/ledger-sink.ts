import { EMPTY_LEDGER, LedgerState, type LedgerChange, type LedgerContent } from "@berth/core";

/**
 * Where a ledger that is read goes: each record as the change that adds it, after those that it refers to. One at a time, because all rows of a
 * large ledger at once take several times what the ledger takes in memory.
 */
export type LedgerSink = (added: LedgerChange) => void;

/** A ledger in memory, made of what is read. */
export function stateSink(): { readonly sink: LedgerSink; readonly state: LedgerState } {
  const state = new LedgerState(EMPTY_LEDGER);
  return { sink: (added) => state.apply(added), state };
}

/** Lists of what is read, as it stands in the database. */
export function contentSink(): { readonly sink: LedgerSink; readonly content: () => LedgerContent } {
  const lists = { subnet: [], machine: [], allocation: [], quarantine: [], reservation: [], record: [], answer: [] };
  let nextSubnetId = EMPTY_LEDGER.nextSubnetId;
  return {
    sink: ({ table, after }) => {
      if (table === "next-subnet") nextSubnetId = after;
      else (lists[table] as unknown[]).push(after);
    },
    content: () => ({
      subnets: lists.subnet,
      machines: lists.machine,
      allocations: lists.allocation,
      quarantines: lists.quarantine,
      reservations: lists.reservation,
      records: lists.record,
      answers: lists.answer,
      nextSubnetId,
    }),
  };
}
