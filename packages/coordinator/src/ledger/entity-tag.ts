import { canonicalJson, type Allocation, type LedgerState, type Machine } from "@berth/core";
import { hash } from "node:crypto";

const TAG_CHARACTERS = 22;

/** The strong entity tag of a record (RFC 9110 §8.8.3): equal content, equal tag, also after a restart and on another coordinator. */
export function entityTag(record: unknown): string {
  return `"${hash("sha256", canonicalJson(record), "base64url").slice(0, TAG_CHARACTERS)}"`;
}

/** What an operator sees of a machine in the ledger: the record and its addresses. */
export function taggedMachine(machine: Machine, allocations: readonly Allocation[]): unknown {
  return { machine, allocations: allocations.toSorted((a, b) => (a.id < b.id ? -1 : 1)) };
}

/** The same of a machine in memory. */
export function taggedMachineOf(state: LedgerState, machine: Machine): unknown {
  return taggedMachine(machine, state.allocationsOf(machine.id));
}
