import type { Problem } from "@berth/core";

/** Ends a request with an error answer. Only the error handler of the API catches it. */
export class ApiRefusal extends Error {
  override readonly name = "ApiRefusal";
  readonly statusCode: number;
  readonly problems: readonly [Problem, ...Problem[]];

  constructor(statusCode: number, problems: readonly [Problem, ...Problem[]]) {
    super(problems[0].message);
    this.statusCode = statusCode;
    this.problems = problems;
  }
}
