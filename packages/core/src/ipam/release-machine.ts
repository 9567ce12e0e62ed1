import { accepted, type Result } from "../problem.js";
import type { LedgerChange } from "./change.js";
import type { Decision } from "./decision.js";
import { findMachine } from "./find-machine.js";
import { quarantineKey, type LedgerState } from "./ledger-state.js";
import type { Allocation, Machine, Quarantine } from "./model.js";
import { releaseUntil } from "./rest-time.js";

/**
 * Releases a machine: its addresses rest, it leaves the VIPs it owned with others. A machine that is released already stays so. `now` in
 * milliseconds since 1970.
 */
export function releaseMachine(state: LedgerState, machine: string, now: number): Result<Decision<Machine>> {
  const found = findMachine(state, machine);
  if (!found.ok) return found;
  const before = found.value;
  if (before.state === "released") return accepted({ value: before, changes: [] });
  const after: Machine = { ...before, state: "released" };
  const changes = state.allocationsOf(before.id).flatMap((allocation) => giveUp(state, { allocation, machine: before }, now));
  return accepted({ value: after, changes: [{ table: "machine", before, after }, ...changes] });
}

function giveUp(
  state: LedgerState,
  { allocation, machine }: { readonly allocation: Allocation; readonly machine: Machine },
  now: number,
): LedgerChange[] {
  const owners = allocation.owners.filter((owner) => owner !== machine.id);
  if (allocation.kind === "vip" && owners.length > 0) {
    return [{ table: "allocation", before: allocation, after: { ...allocation, owners } }];
  }
  return giveBack(state, allocation, now);
}

/** Ends an allocation; its address rests. `now` in milliseconds since 1970. */
export function giveBack(state: LedgerState, allocation: Allocation, now: number): LedgerChange[] {
  const subnet = state.spaceOf(allocation.subnetId).subnet;
  const rests: Quarantine = {
    subnetId: subnet.id,
    site: subnet.site,
    address: allocation.address,
    releasedAt: now,
    until: releaseUntil(subnet, now),
    nics: allocation.nics,
  };
  const before = state.quarantines.get(quarantineKey(rests)) ?? null;
  return [
    { table: "allocation", before: allocation, after: null },
    { table: "quarantine", before, after: rests },
  ];
}
