import {
  canonicalJson,
  type Allocation,
  type LedgerState,
  type Machine,
  type NameRecord,
  type Reservation,
  type Subnet,
} from "@berth/core";
import { hash } from "node:crypto";

/*
 * Strong entity tags (RFC 9110 §8.8.3) of records of the ledger: equal content, equal tag, also after a restart, on another coordinator and from another
 * database. A record may come with its members in any order, so they are written out in one of ours. What every allocation is answered with
 * is a plain list of them, which costs a fraction of an object with sorted keys.
 */

/** 132 bits. */
const TAG_CHARACTERS = 22;

/** Of a machine as an operator sees it in the ledger: the record and its addresses. */
export function machineTag({ createdAt, id, name, nics, state }: Machine, allocations: readonly Allocation[]): string {
  const content: unknown[] = [id, name, state, nics, createdAt];
  const ordered = allocations.length < 2 ? allocations : allocations.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  for (const allocation of ordered) content.push(membersOf(allocation));
  return tagOf(JSON.stringify(content));
}

/** The same of a machine in memory. */
export function machineTagIn(state: LedgerState, machine: Machine): string {
  return machineTag(machine, state.allocationsOf(machine.id));
}

export function allocationTag(allocation: Allocation): string {
  return tagOf(JSON.stringify(membersOf(allocation)));
}

/** Of what is changed too seldom for its cost to matter. */
export function recordTag(record: Subnet | Reservation | NameRecord): string {
  return tagOf(canonicalJson(record));
}

/** The same of the one with that key; null when there is none. */
export function recordTagIn<Key>(records: ReadonlyMap<Key, Parameters<typeof recordTag>[0]>, key: Key): string | null {
  const record = records.get(key);
  return record === undefined ? null : recordTag(record);
}

function membersOf(allocation: Allocation): readonly unknown[] {
  const { address, createdAt, delivery, id, kind, machineId, name, nics, ownerKey, owners, subnetId } = allocation;
  return [id, kind, subnetId, address, machineId, nics, ownerKey, name, owners, delivery, createdAt];
}

function tagOf(content: string): string {
  return `"${hash("sha256", content, "base64url").slice(0, TAG_CHARACTERS)}"`;
}
