import type { Allocation, LedgerChange, LedgerState, Machine } from "@berth/core";

/** What a machine holds in the state, without what is decided and not yet committed. */
export function committedAllocationsOf(
  state: LedgerState,
  machineId: string,
  inFlight: readonly LedgerChange[],
): readonly Allocation[] {
  if (inFlight.length === 0) return state.allocationsOf(machineId);
  const isHeld = (allocation: Allocation | null): allocation is Allocation =>
    allocation !== null && (allocation.machineId === machineId || allocation.owners.includes(machineId));
  const held = new Map(state.allocationsOf(machineId).map((allocation) => [allocation.id, allocation]));
  for (const change of inFlight.toReversed()) {
    if (change.table !== "allocation") continue;
    if (change.after !== null) held.delete(change.after.id);
    if (isHeld(change.before)) held.set(change.before.id, change.before);
  }
  return [...held.values()];
}

/** A machine of the state, likewise. */
export function committedMachine(state: LedgerState, id: string, inFlight: readonly LedgerChange[]): Machine | null {
  for (const change of inFlight)
    if (change.table === "machine" && (change.before ?? change.after)?.id === id) return change.before;
  return state.machines.get(id) ?? null;
}
