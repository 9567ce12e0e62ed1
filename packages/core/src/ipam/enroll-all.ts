import { accepted, refused, type Problem, type Result } from "../problem.js";
import type { LedgerChange } from "./change.js";
import type { Decision } from "./decision.js";
import { enrollMachine, type EnrollContext, type Enrollment } from "./enroll-machine.js";
import { undoOf, type LedgerState } from "./ledger-state.js";
import type { EnrollRequest } from "./request.js";

export interface EnrollAllContext extends Omit<EnrollContext, "machineId" | "allocationId"> {
  /** Ids that neither the ledger nor an earlier call has. */
  readonly newIds: () => Pick<EnrollContext, "machineId" | "allocationId">;
}

/**
 * Enrolls many machines in one decision, each on top of those before it: all are accepted, or the refusal names every one that is not, with
 * `machines[12]` before its place. The state is as before when it returns.
 */
export function enrollAll(
  state: LedgerState,
  requests: readonly EnrollRequest[],
  { newIds, now, observed }: EnrollAllContext,
): Result<Decision<readonly Enrollment[]>> {
  const made: LedgerChange[] = [];
  const enrolled: Enrollment[] = [];
  const problems: Problem[] = [];
  try {
    for (const [index, request] of requests.entries()) {
      const decision = enrollMachine(state, request, { observed, now, ...newIds() });
      if (!decision.ok) {
        problems.push(...decision.problems.map((problem) => ({ ...problem, at: `machines[${index}].${problem.at}` })));
        continue;
      }
      for (const change of decision.value.changes) {
        state.apply(change);
        made.push(change);
      }
      enrolled.push(decision.value.value);
    }
  } finally {
    for (const change of made.toReversed()) state.apply(undoOf(change));
  }
  return problems.length > 0 ? refused(...problems) : accepted({ value: enrolled, changes: made });
}
