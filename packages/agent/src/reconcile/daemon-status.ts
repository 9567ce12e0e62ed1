import type { DaemonFacts, DaemonStatus, Problem } from "@berth/core";
import { describeError, EnvironmentError } from "@berth/host";

/** What the reconcilers of both daemons say of a pass. */
export interface DaemonReport {
  readonly name: DaemonStatus["name"];
  readonly goal: { readonly kind: "run" | "keep"; readonly generation: number | null; readonly problems: readonly Problem[] };
  readonly facts: DaemonFacts;
  /** Why the newest goal does not run yet; null when nothing failed. */
  readonly failure: Problem | null;
}

export function daemonStatus({ name, goal, facts, failure }: DaemonReport): DaemonStatus {
  const converged = facts.desired === facts.running && (facts.desired === null || facts.desired === facts.written);
  const refusedGoal = goal.kind === "keep" && goal.problems.length > 0;
  const state =
    failure !== null || refusedGoal ? "failing" : !converged ? "converging" : facts.desired === null ? "off" : "converged";
  const problems = failure === null ? [...goal.problems] : [...goal.problems, failure];
  return { name, state, ...facts, generation: state === "converged" || state === "off" ? goal.generation : null, problems };
}

/** Runs one step of an activation; an environment failure becomes the problem that is reported, anything else is a bug and goes on up. */
export async function attemptStep(act: () => Promise<Problem | null>): Promise<Problem | null> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof EnvironmentError)) throw error;
    const remedy = error.remedy === undefined ? {} : { remedy: error.remedy };
    return { code: error.code, at: error.at, message: describeError(error), ...remedy };
  }
}
