import { addRecord, removeRecord, reserve, unreserve, type LedgerState, type NameRecord, type Reservation } from "@berth/core";
import { askerOf } from "./asker.js";
import type { CommitQueue } from "./commit-queue.js";
import { recordTag } from "./entity-tag.js";
import type { Ledger } from "./ledger.js";
import { unusedId } from "./new-id.js";

type NameCommands = Pick<Ledger, "addRecord" | "removeRecord" | "reserve" | "unreserve">;

export function nameCommands(state: LedgerState, queue: CommitQueue): NameCommands {
  return {
    addRecord: (request, by) =>
      queue.submit({
        ...askerOf(by),
        action: "add-record",
        decide: ({ observed, now }) => addRecord(state, request, { observed, now, id: unusedId("n", state.records) }),
        subject: ({ record }) => `${record.id} ${record.name} ${record.type} ${record.value}`,
      }),
    removeRecord: (reference, by) =>
      queue.submit({
        ...askerOf(by),
        action: "remove-record",
        decide: () => removeRecord(state, reference),
        subject: ({ id, name, type, value }) => `${id} ${name} ${type} ${value}`,
        current: current(state.records, reference),
      }),
    reserve: (request, by) =>
      queue.submit({
        ...askerOf(by),
        action: "reserve",
        decide: ({ observed, now }) => reserve(state, request, { observed, now, id: unusedId("r", state.reservations) }),
        subject: ({ reservation }) => `${reservation.id} ${reservation.first}-${reservation.last}`,
      }),
    unreserve: (reference, by) =>
      queue.submit({
        ...askerOf(by),
        action: "unreserve",
        decide: () => unreserve(state, reference),
        subject: ({ id, first, last }) => `${id} ${first}-${last}`,
        current: current(state.reservations, reference),
      }),
  };
}

function current(records: ReadonlyMap<string, NameRecord | Reservation>, id: string): () => string | null {
  return () => {
    const record = records.get(id);
    return record === undefined ? null : recordTag(record);
  };
}
