import type { Command } from "commander";
import { expect, it } from "vitest";
import type { CliPorts } from "../cli-ports.js";
import { createCli } from "../create-cli.js";

const sink: CliPorts["stdout"] = { isTerminal: false, write: () => undefined };
const nothing = { readFile: () => Promise.reject(new Error("reads no file")), interrupted: () => new AbortController().signal };
const program = createCli({ env: {}, stdout: sink, stderr: sink, now: () => 0, ...nothing });

function leaves(command: Command, path: readonly string[]): (readonly [string, Command])[] {
  if (command.commands.length === 0) return [[path.join(" "), command]];
  return command.commands.flatMap((sub) => leaves(sub, [...path, sub.name()]));
}

function helpOf(command: Command): string {
  let text = "";
  command.configureOutput({ writeOut: (part) => (text += part) });
  command.outputHelp();
  return text;
}

const withWords = leaves(program, []).filter(([, command]) => command.options.length + command.registeredArguments.length > 0);

it.each(withWords)("the help of berth %s ends with examples of its own options", (path, command) => {
  const [, examples = ""] = helpOf(command).split("Examples:\n");
  const lines = examples.trimEnd().split("\n");
  for (const line of lines) {
    expect(line.startsWith(`  berth ${path}`), line).toBe(true);
    const known = [...command.options, ...program.options].flatMap(({ long, short }) => [long, short]);
    for (const flag of line.match(/(?<= )--?[a-z-]+/g) ?? []) expect(known, line).toContain(flag);
  }
});
