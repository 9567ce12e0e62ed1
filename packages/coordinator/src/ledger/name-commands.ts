import { addRecord, removeRecord, reserve, unreserve, type LedgerState } from "@berth/core";
import { askerOf } from "./asker.js";
import type { CommitQueue } from "./commit-queue.js";
import { recordTagIn } from "./entity-tag.js";
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
        current: () => recordTagIn(state.records, reference),
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
        current: () => recordTagIn(state.reservations, reference),
      }),
  };
}
