import { DesiredDigests, formatProblem, type Problem } from "@berth/core";
import { EnvironmentError, sha256 } from "@berth/host";
import type { Command } from "commander";
import { agentPaths } from "../agent-paths.js";
import { openDesiredFiles } from "../desired/desired-files.js";
import { loadIdentity } from "../identity/identity.js";
import type { AgentCliPorts } from "./agent-cli-ports.js";
import { DEFAULT_CONFIG, requireConfig } from "./run.js";

/** Programs that the agent calls, and Debian's packages that have them. */
const PROGRAMS: readonly (readonly [string, readonly string[], string])[] = [
  ["ip", ["-V"], "iproute2"],
  ["named-checkconf", ["-v"], "bind9-utils"],
  ["named-checkzone", ["-v"], "bind9-utils"],
  ["rndc", ["-h"], "bind9-utils"],
];

/** Adds `berth-agent check`: would `run` work here? Touches nothing. */
export function registerCheck(program: Command, ports: AgentCliPorts): void {
  program
    .command("check")
    .description("check the configuration, the programs and the state folder; touches nothing")
    .option("--config <file>", "configuration file", DEFAULT_CONFIG)
    .action(async ({ config: path }: { readonly config: string }) => {
      const config = await requireConfig(path, ports);
      if (config === null) return;
      const programs = [
        ...PROGRAMS,
        [config.dhcpd.program, ["--version"], "isc-dhcp-server"],
        ...(config.dhcpd.omapi === null ? [] : ([["arping", ["-V"], "iputils-arping"]] as const)),
        [config.named.program, ["-v"], "bind9"],
      ] as const;
      const missing = (await Promise.all(programs.map((entry) => checkProgram(entry, ports)))).filter(
        (problem) => problem !== null,
      );
      const state = await checkState(agentPaths(config).state, ports);
      const problems = [...missing, ...state];
      for (const problem of problems) ports.stderr(`${formatProblem(problem)}\n`);
      if (problems.length === 0) ports.stdout(`${path}: ok\n`);
      ports.exitWith(problems.length === 0 ? 0 : 1);
    });
}

async function checkProgram(
  [name, args, debianPackage]: readonly [string, readonly string[], string],
  ports: AgentCliPorts,
): Promise<Problem | null> {
  try {
    await ports.commands.run([name, ...args], { timeoutMs: 10_000 });
    return null;
  } catch (error) {
    if (!(error instanceof EnvironmentError)) throw error;
    return { code: error.code, at: name, message: error.message, remedy: `apt-get install ${debianPackage}` };
  }
}

async function checkState(stateDir: string, ports: AgentCliPorts): Promise<Problem[]> {
  const identity = await loadIdentity(stateDir, ports.files);
  if (identity === null)
    return [
      {
        code: "not-joined",
        at: stateDir,
        message: "this rack has not joined a region",
        remedy: "run `berth token create` on the region and the line it prints here",
      },
    ];
  const { problem } = await openDesiredFiles({ files: ports.files, stateDir, digests: new DesiredDigests(sha256) });
  return problem === null ? [] : [problem];
}
