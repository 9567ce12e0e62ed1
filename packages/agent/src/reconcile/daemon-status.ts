import type { DaemonFacts, DaemonStatus, Problem } from "@berth/core";
import { describeError, EnvironmentError } from "@berth/host";
import { IDLE_MS } from "./reconciler.js";

/** What a reconciler is to bring about, as far as its status tells of it. */
export interface ReportedGoal {
  /** `keep`: nothing new can be decided now; what runs goes on. */
  readonly kind: "run" | "keep";
  /** Nothing new can be decided *yet*: what runs may not be what is wanted. */
  readonly pending: boolean;
  /** Generation that this goal is of; null while it is not known to be. */
  readonly generation: number | null;
  readonly problems: readonly Problem[];
}

/** What the reconcilers of both daemons say of a pass. */
export interface DaemonReport {
  readonly name: DaemonStatus["name"];
  readonly goal: ReportedGoal;
  readonly facts: DaemonFacts;
  /** Why the newest goal does not run yet; null when nothing failed. */
  readonly failure: Problem | null;
}

export function daemonStatus({ name, goal, facts, failure }: DaemonReport): DaemonStatus {
  const converged = facts.desired === facts.running && (facts.desired === null || facts.desired === facts.written);
  const refusedGoal = goal.kind === "keep" && goal.problems.length > 0;
  const settled = facts.desired === null ? "off" : "converged";
  const state = failure !== null || refusedGoal ? "failing" : goal.pending || !converged ? "converging" : settled;
  const problems = failure === null ? [...goal.problems] : [...goal.problems, failure];
  return { name, state, ...facts, generation: state === settled ? goal.generation : null, problems };
}

/** Before the first pass. */
export function unstartedStatus(name: DaemonStatus["name"]): DaemonStatus {
  return { name, state: "converging", desired: null, written: null, running: null, generation: null, problems: [] };
}

/** Runs one step of an activation; an environment failure becomes the problem that is reported, anything else is a bug and goes on up. */
export async function attemptStep(act: () => Promise<Problem | null>): Promise<Problem | null> {
  try {
    return await act();
  } catch (error) {
    return failureProblem(error);
  }
}

/** Runs a pass; one that the environment cuts off (a disk that went read-only) is told and done again, and never ends the agent. */
export async function guardedPass(pass: () => Promise<number>, tell: (problem: Problem) => void): Promise<number> {
  try {
    return await pass();
  } catch (error) {
    tell(failureProblem(error));
    return IDLE_MS;
  }
}

/** The failure of the world as a problem; anything else is a bug and goes on up. */
export function failureProblem(error: unknown): Problem {
  if (!(error instanceof EnvironmentError)) throw error;
  const remedy = error.remedy === undefined ? {} : { remedy: error.remedy };
  return { code: error.code, at: error.at, message: describeError(error), ...remedy };
}
