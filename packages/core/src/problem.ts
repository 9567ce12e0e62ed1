/**
 * A refusal or a finding: what is wrong, where, and what to do about it.
 *
 * `code` is stable kebab-case that scripts may match; `at` names the place (a JSON path, `file:line`, a subnet or an
 * interface); `message` is one plain sentence; `remedy` says what the operator can do, where we know it.
 */
export interface Problem {
  readonly code: string;
  readonly at: string;
  readonly message: string;
  readonly remedy?: string;
}

/** The outcome of something that may be refused. A refusal carries every reason, in a stable order. */
export type Result<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problems: readonly Problem[] };

export function accepted<T>(value: T): Result<T> {
  return { ok: true, value };
}

export function refused(...problems: readonly Problem[]): { readonly ok: false; readonly problems: readonly Problem[] } {
  return { ok: false, problems };
}

/** One line for people: `at: message (remedy)`. */
export function formatProblem(problem: Problem): string {
  const remedy = problem.remedy === undefined ? "" : ` (${problem.remedy})`;
  return `${problem.at}: ${problem.message}${remedy} [${problem.code}]`;
}

/** A broken promise of our own code: never caught to go on, always a bug. */
export class BugError extends Error {
  override readonly name = "BugError";
}

/** States an invariant; its failure is a bug, not a refusal. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new BugError(message);
}
