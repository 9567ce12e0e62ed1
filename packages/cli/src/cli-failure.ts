import type { Problem } from "@berth/core";

export const EXIT_OK = 0;
/** The coordinator refused, or there are findings. */
export const EXIT_REFUSED = 1;
export const EXIT_USAGE = 2;
/** The coordinator cannot be reached, a file cannot be read, ... */
export const EXIT_ENVIRONMENT = 3;

/** Ends the command with its exit code, after its problems were printed. */
export class CliFailure extends Error {
  override readonly name = "CliFailure";
  readonly exitCode: number;
  readonly problems: readonly Problem[];

  constructor(exitCode: number, problems: readonly Problem[], cause?: unknown) {
    super(problems[0]?.message ?? "failed", { cause });
    this.exitCode = exitCode;
    this.problems = problems;
  }
}

export function environmentFailure(problem: Problem, cause?: unknown): CliFailure {
  return new CliFailure(EXIT_ENVIRONMENT, [problem], cause);
}
