import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import type { CliPorts } from "../cli-ports.js";
import { createCli } from "../create-cli.js";
import { runCli } from "../run-cli.js";
import { commandWords } from "./command-words.js";

async function script(shell: string): Promise<string> {
  let text = "";
  const sink = { isTerminal: false, write: (part: string) => (text += part) };
  const code = await runCli(["completion", shell], ports(sink));
  expect(code).toBe(0);
  return text;
}

function ports(sink: CliPorts["stdout"]): CliPorts {
  const nothing = { readFile: () => Promise.reject(new Error("reads no file")), interrupted: () => new AbortController().signal };
  return { env: {}, stdout: sink, stderr: sink, now: () => 0, ...nothing };
}

/** What bash would offer after these words, the last of them unfinished. */
function offered(completion: string, words: readonly string[]): string[] {
  const program = `${completion}
COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")})
COMP_CWORD=${words.length - 1}
_berth
printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync("bash", ["--norc", "-c", program], { encoding: "utf8" })
    .split("\n")
    .filter((line) => line !== "");
}

describe("bash completion", () => {
  it.each([
    [["berth", "su"], ["subnet"]],
    [
      ["berth", "subnet", "s"],
      ["set", "show"],
    ],
    [
      ["berth", "-o", "json", "machine", "en"],
      ["enlist", "enroll"],
    ],
    [["berth", "subnet", "create", "10.0.0.0/8", "--mo"], ["--mode"]],
    [["berth", "subnet", "create", "--mode", "l"], ["link-local"]],
    [
      ["berth", "rack", "list", "-o", ""],
      ["table", "wide", "json", "yaml"],
    ],
    [["berth", "machine", "enroll", "--name", "x"], []],
    [["berth", "lease", "list", "--s"], ["--state"]],
    [["berth", "ev"], ["events"]],
    [["berth", "events", "--fo"], ["--follow"]],
  ])("after %j offers %j", async (words, expected) => {
    expect(offered(await script("bash"), words).sort()).toEqual([...expected].sort());
  });
});

describe("every completion script", () => {
  const commands = commandWords(createCli(ports({ isTerminal: false, write: () => undefined })));

  it.each(["bash", "zsh", "fish"])("of %s knows every command and every long option", async (shell) => {
    const text = await script(shell);
    for (const { options, path, subcommands } of commands) {
      expect(text).toContain(path);
      for (const { text: name } of subcommands) expect(text).toContain(name);
      for (const { flags } of options)
        for (const flag of flags.filter((candidate) => candidate.startsWith("--")))
          expect(text).toContain(shell === "fish" ? `-l ${flag.slice(2)}` : flag);
    }
  });
});
