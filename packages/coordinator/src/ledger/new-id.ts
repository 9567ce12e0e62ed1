import type { LedgerState } from "@berth/core";
import { randomBytes } from "node:crypto";

/** Crockford's base 32: no letters that read like digits. */
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const ID_LENGTH = 12;

/** Ids for a new machine and a new allocation that the ledger has not yet. */
export function newIds(state: LedgerState): { readonly machineId: string; readonly allocationId: string } {
  return { machineId: unusedId("m", state.machines), allocationId: unusedId("a", state.allocations) };
}

/** An id of that kind that none of the records has. */
export function unusedId(kind: string, records: ReadonlyMap<string, unknown>): string {
  for (;;) {
    const id = `${kind}-${Array.from(randomBytes(ID_LENGTH), (octet) => ALPHABET[octet & 31]).join("")}`;
    if (!records.has(id)) return id;
  }
}
