import { BERTH_VERSION, printableDocument } from "@berth/core";
import { EnvironmentError, failureText } from "@berth/host";
import { Command, CommanderError } from "commander";
import { registerAdopt } from "./commands/adopt.js";
import type { AgentCliPorts } from "./commands/agent-cli-ports.js";
import { registerCheck } from "./commands/check.js";
import { registerInspect } from "./commands/inspect.js";
import { registerJoin } from "./commands/join.js";
import { registerLeases } from "./commands/leases.js";
import { followLeasesFile } from "./commands/leases-follow.js";
import { registerPartnerDown } from "./commands/partner-down.js";
import { registerRender } from "./commands/render.js";
import { registerRun } from "./commands/run.js";
import { DEFAULT_STATE, registerStatus } from "./commands/status.js";
import { registerStopDaemons } from "./commands/stop-daemons.js";

/** `berth-agent` with all its commands. */
export function createAgentCli(unguarded: AgentCliPorts): Command {
  const ports = printingOnly(unguarded);
  const program = new Command("berth-agent")
    .description("Berth's agent on a rack host: watches interfaces and leases, runs dhcpd and named")
    .version(BERTH_VERSION)
    .exitOverride()
    .configureOutput({ writeOut: (text) => ports.stdout(text), writeErr: (text) => ports.stderr(text) })
    .addHelpText("after", "\nExit status: 0 ok, 1 findings, 2 usage, 3 environment.");
  registerRun(program, ports);
  registerCheck(program, ports);
  registerStatus(program, ports);
  registerJoin(program, {
    files: ports.files,
    clock: ports.clock,
    hostname: ports.hostname,
    version: BERTH_VERSION,
    defaultState: DEFAULT_STATE,
    print: (line) => ports.stdout(`${line}\n`),
    printError: (line) => ports.stderr(`${line}\n`),
    exit: (code) => ports.exitWith(code),
  });
  registerInspect(program, ports);
  registerLeases(program, ports, (options) => followLeasesFile(options, ports));
  registerRender(program, ports);
  registerAdopt(program, ports);
  registerPartnerDown(program, ports);
  registerStopDaemons(program, ports);
  return program;
}

/** Runs one command line; the exit status is told to the ports. */
export async function runAgentCli(args: readonly string[], unguarded: AgentCliPorts): Promise<void> {
  const ports = printingOnly(unguarded);
  try {
    await createAgentCli(ports).parseAsync(args, { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError) {
      ports.exitWith(error.exitCode === 0 ? 0 : 2);
    } else if (error instanceof EnvironmentError) {
      ports.stderr(failureText(error));
      ports.exitWith(3);
    } else {
      throw error;
    }
  }
}

/**
 * What machines, files and other programs say of themselves may be in anything that is printed: no character that a terminal acts upon gets there. In JSON these are
 * the escapes of strings, so that it says the same.
 */
function printingOnly(ports: AgentCliPorts): AgentCliPorts {
  return {
    ...ports,
    stdout: (text) => ports.stdout(printableDocument(text)),
    stderr: (text) => ports.stderr(printableDocument(text)),
  };
}
