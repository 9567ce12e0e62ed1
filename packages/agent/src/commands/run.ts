import { createLog, readConfigFile } from "@berth/host";
import { formatProblem, issueText } from "@berth/core";
import type { Command } from "commander";
import { AGENT_CONFIG_REFERENCE, agentConfigSchema, type AgentConfig } from "../config.js";
import { createAgent } from "../create-agent.js";
import type { AgentCliPorts } from "./agent-cli-ports.js";

export const DEFAULT_CONFIG = "/etc/berth/agent.yaml";

/** Adds `berth-agent run`, the daemon. */
export function registerRun(program: Command, ports: AgentCliPorts): void {
  program
    .command("run")
    .description("run the agent: watch interfaces and leases, keep dhcpd and named right, talk to the region")
    .option("--config <file>", "configuration file; agent.reference.yaml documents every key", DEFAULT_CONFIG)
    .action(async ({ config: path }: { readonly config: string }) => {
      const signal = ports.endingSignal();
      const config = await requireConfig(path, ports);
      if (config === null) return;
      const { files, commands, clock, pid, hostname, journal } = ports;
      const log = createLog({ level: config.log.level, journal, write: (line) => ports.stderr(line) });
      const agent = await createAgent(config, { files, commands, clock, log, pid, hostname });
      await agent.run(signal);
    });
}

/** The configuration, or null after its problems were told and the exit status set. */
export async function requireConfig(path: string, ports: AgentCliPorts): Promise<AgentConfig | null> {
  // The usual place may be empty: everything has a default. A file that was named has to be there.
  if (path === DEFAULT_CONFIG && (await ports.files.read(path)) === null) return agentConfigSchema.parse({});
  const read = await readConfigFile(ports.files, { path, reference: AGENT_CONFIG_REFERENCE, issueText }, agentConfigSchema);
  if (read.ok) return read.value;
  for (const problem of read.problems) ports.stderr(`error: ${formatProblem(problem)}\n`);
  ports.exitWith(2);
  return null;
}
