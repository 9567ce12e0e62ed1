import { CommanderError } from "commander";
import { CliFailure, EXIT_OK, EXIT_USAGE } from "./cli-failure.js";
import type { CliPorts } from "./cli-ports.js";
import { createCli } from "./create-cli.js";
import { printProblems } from "./output/print-failure.js";

/** Runs one command to its end and answers the exit code. `args` without program and script. Only bugs are thrown. */
export async function runCli(args: readonly string[], ports: CliPorts): Promise<number> {
  try {
    await createCli(ports).parseAsync(args, { from: "user" });
    return EXIT_OK;
  } catch (error) {
    if (error instanceof CliFailure) {
      printProblems(ports.stderr, error.problems, (ports.env.NO_COLOR ?? "") === "");
      return error.exitCode;
    }
    // Commander has printed its own word by now.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT_OK : EXIT_USAGE;
    throw error;
  }
}
