import { accepted, refused, type Problem, type Result } from "../problem.js";
import { addAddress, type AdditionalRequest } from "./add-address.js";
import type { LedgerChange } from "./change.js";
import { createVip, type VipRequest } from "./change-vip.js";
import type { Decision } from "./decision.js";
import { enrollMachine } from "./enroll-machine.js";
import { findMachine } from "./find-machine.js";
import type { Allocated } from "./keep-allocation.js";
import { undoOf, type LedgerState } from "./ledger-state.js";
import type { Observed } from "./observed.js";
import type { EnrollRequest } from "./request.js";

/** One address of several kinds: of a machine by its NICs, of a known machine in one more subnet, an additional one, a VIP. */
export type AllocateRequest =
  | ({ readonly kind: "enroll" } & EnrollRequest)
  | ({ readonly kind: "machine"; readonly machine: string } & Omit<EnrollRequest, "nics">)
  | ({ readonly kind: "additional" } & AdditionalRequest)
  | ({ readonly kind: "vip" } & VipRequest);

export interface AllocateManyContext {
  readonly observed: Observed;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** For new records, one pair a request, unique and unused. */
  readonly ids: readonly { readonly machineId: string; readonly allocationId: string }[];
}

const ITEMS_MAX = 4096;

/** Does all of it or nothing: later requests see what earlier ones got. A refusal says for each refused request why, as `items[3].address`. */
export function allocateMany(
  state: LedgerState,
  requests: readonly AllocateRequest[],
  context: AllocateManyContext,
): Result<Decision<readonly Allocated[]>> {
  if (requests.length === 0 || requests.length > ITEMS_MAX) {
    const message = `${requests.length} requests at once`;
    return refused({ code: "items-count", at: "items", message, remedy: `send 1 to ${ITEMS_MAX}` });
  }
  const made: LedgerChange[] = [];
  const values: Allocated[] = [];
  const problems: Problem[] = [];
  try {
    for (const [index, request] of requests.entries()) {
      const decision = allocateOne(state, request, { ...context, ids: context.ids.slice(index, index + 1) });
      if (!decision.ok) {
        problems.push(...decision.problems.map((problem) => ({ ...problem, at: `items[${index}].${problem.at}` })));
        continue;
      }
      for (const change of decision.value.changes) {
        state.apply(change);
        made.push(change);
      }
      values.push(decision.value.value);
    }
  } finally {
    // A decision leaves the state as it found it: whoever asked applies the changes.
    for (const change of made.toReversed()) state.apply(undoOf(change));
  }
  return problems.length > 0 ? refused(...problems) : accepted({ value: values, changes: made });
}

/** One request of any kind. */
export function allocateOne(
  state: LedgerState,
  request: AllocateRequest,
  { observed, now, ids }: AllocateManyContext,
): Result<Decision<Allocated>> {
  const { machineId, allocationId } = ids[0] ?? { machineId: "", allocationId: "" };
  const context = { observed, now, machineId, allocationId };
  switch (request.kind) {
    case "additional":
      return addAddress(state, request, context);
    case "vip":
      return createVip(state, request, context);
    case "enroll":
      return enrollMachine(state, request, context);
    case "machine": {
      const found = findMachine(state, request.machine);
      if (!found.ok) return found;
      const { nics, state: now } = found.value;
      if (now !== "released") return enrollMachine(state, { ...request, nics }, context);
      const message = `${found.value.name ?? found.value.id} is released`;
      return refused({ code: "machine-released", at: "machine", message, remedy: "enroll it again first" });
    }
  }
}
