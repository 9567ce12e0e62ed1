import type { Command } from "commander";
import type { CliContext } from "../cli-context.js";
import { apiPath } from "../connection/api-client.js";

export interface ChangeFlags {
  readonly dryRun?: boolean;
}

/** Gives a command that changes something `--dry-run`. */
export function withDryRun(command: Command): Command {
  return command.option("--dry-run", "let the coordinator decide and answer, and change nothing");
}

/** The path of a change, for show only where that was asked for; says so beside the answer. */
export function changePath(context: CliContext, { dryRun }: ChangeFlags, ...parts: readonly string[]): string {
  if (dryRun !== true) return apiPath(...parts);
  context.note("dry run: nothing is changed");
  return `${apiPath(...parts)}?dry_run=true`;
}
