import { EnvironmentError, errnoOf } from "./errors.js";

/** Why a program could not be started: `command-not-found` or `command-failed-to-start`. */
export function startError(program: string, cause: Error): EnvironmentError {
  return errnoOf(cause) === "ENOENT"
    ? new EnvironmentError("command-not-found", program, `${program} is not installed`, {
        cause,
        remedy: `install the package that provides ${program}`,
      })
    : new EnvironmentError("command-failed-to-start", program, `failed to start ${program}`, { cause });
}
