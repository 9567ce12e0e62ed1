import { parseIpPrefix } from "../address/prefix.js";
import { accepted, refused, type Problem, type Result } from "../problem.js";
import type { LedgerChange } from "./change.js";
import { changeSubnet, declareSubnet } from "./declare-subnet.js";
import type { Decision } from "./decision.js";
import { enrollAll, type EnrollAllContext } from "./enroll-all.js";
import type { Enrollment } from "./enroll-machine.js";
import { undoOf, type LedgerState } from "./ledger-state.js";
import type { Subnet } from "./model.js";
import type { EnrollRequest, SubnetRequest } from "./request.js";

export interface ImportRequest {
  readonly subnets: readonly SubnetRequest[];
  readonly machines: readonly EnrollRequest[];
}

export interface ImportedSubnet {
  readonly subnet: Subnet;
  /** False when it was declared before, with the same content. */
  readonly created: boolean;
}

export interface Imported {
  readonly subnets: readonly ImportedSubnet[];
  readonly machines: readonly Enrollment[];
}

/**
 * Declares subnets and enrolls machines in them in one decision: all are accepted, or the refusal names every one that is not, with `subnets[2]` or
 * `machines[12]` before its place. A subnet that is there already must be as it is asked for. The state is as before when it returns.
 */
export function importAll(state: LedgerState, request: ImportRequest, context: EnrollAllContext): Result<Decision<Imported>> {
  const made: LedgerChange[] = [];
  const subnets: ImportedSubnet[] = [];
  const problems: Problem[] = [];
  try {
    for (const [index, wanted] of request.subnets.entries()) {
      const decision = importSubnet(state, wanted, context.now);
      if (!decision.ok) {
        problems.push(...decision.problems.map((problem) => ({ ...problem, at: `subnets[${index}].${problem.at}` })));
        continue;
      }
      for (const change of decision.value.changes) {
        state.apply(change);
        made.push(change);
      }
      subnets.push(decision.value.value);
    }
    const enrolled = enrollAll(state, request.machines, context);
    if (!enrolled.ok) problems.push(...enrolled.problems);
    if (problems.length > 0 || !enrolled.ok) return refused(...problems);
    return accepted({ value: { subnets, machines: enrolled.value.value }, changes: [...made, ...enrolled.value.changes] });
  } finally {
    for (const change of made.toReversed()) state.apply(undoOf(change));
  }
}

function importSubnet(state: LedgerState, wanted: SubnetRequest, now: number): Result<Decision<ImportedSubnet>> {
  const prefix = parseIpPrefix(wanted.prefix);
  const site = wanted.site ?? "default";
  const there = (prefix.ok ? state.subnetsAt(prefix.value) : []).find((subnet) => subnet.site === site);
  if (there === undefined) {
    const declared = declareSubnet(state, wanted, now);
    return declared.ok
      ? accepted({ value: { subnet: declared.value.value, created: true }, changes: declared.value.changes })
      : declared;
  }
  const changed = changeSubnet(state, { id: there.id, change: wanted }, now);
  if (changed.ok && changed.value.changes.length === 0)
    return accepted({ value: { subnet: there, created: false }, changes: [] });
  const message = `${there.prefix} is declared already (subnet ${there.id}), and differently`;
  const remedy = `compare with \`berth subnet show ${there.id}\`; change or remove it, or take it out of the import`;
  return refused({ code: "subnet-differs", at: "prefix", message, remedy });
}
