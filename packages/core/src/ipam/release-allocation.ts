import { accepted, refused, type Result } from "../problem.js";
import { describeHolder } from "./check-subnet.js";
import type { Decision } from "./decision.js";
import { findAllocation } from "./find-allocation.js";
import type { LedgerState } from "./ledger-state.js";
import type { Allocation } from "./model.js";
import { giveBack } from "./release-machine.js";

/**
 * Gives an additional address or a whole VIP back, whoever owns it; the address rests. A machine's own address goes with the machine only.
 * `reference`: id, address or full name; `now` in milliseconds since 1970.
 */
export function releaseAllocation(state: LedgerState, reference: string, now: number): Result<Decision<Allocation>> {
  const found = findAllocation(state, reference);
  if (!found.ok) return found;
  const allocation = found.value;
  if (allocation.kind === "machine") {
    const message = `${allocation.address} is the own address of ${describeHolder(allocation)}`;
    const remedy = "release the machine with `berth machine release`";
    return refused({ code: "allocation-of-machine", at: "allocation", message, remedy });
  }
  return accepted({ value: allocation, changes: giveBack(state, allocation, now) });
}
