import { BERTH_VERSION, formatProblem, issueText } from "@berth/core";
import { createLog, EnvironmentError, failureText, readConfigFile, type Clock, type Commands, type Files } from "@berth/host";
import { Command, CommanderError } from "commander";
import {
  COORDINATOR_CONFIG_REFERENCE,
  coordinatorConfigSchema,
  isEndpoint,
  LINK_PORT,
  type CoordinatorConfig,
} from "./config.js";
import { createCoordinator } from "./serve-in-turns.js";
import { addRegionCommands } from "./region-commands.js";

/** Exit status: 0 ok, 1 findings, 2 usage, 3 environment. */
type ExitCode = 0 | 1 | 2 | 3;

export interface CoordinatorCliPorts {
  readonly files: Files;
  readonly clock: Clock;
  readonly commands: Commands;
  readonly journal: boolean;
  /** Asked for once by what lives until it is told to end. */
  endingSignal(): AbortSignal;
  stdout(text: string): void;
  stderr(text: string): void;
  exitWith(code: ExitCode): void;
}

interface ServeOptions {
  readonly config?: string;
  readonly data?: string;
  readonly database?: string;
  readonly link?: string;
  readonly advertise?: readonly string[];
  readonly api?: readonly string[];
}

/** Runs one command line of `berth-coordinator`; the exit status is told to the ports. */
export async function runCoordinatorCli(args: readonly string[], ports: CoordinatorCliPorts): Promise<void> {
  try {
    await createCoordinatorCli(ports).parseAsync(args, { from: "user" });
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

export function createCoordinatorCli(ports: CoordinatorCliPorts): Command {
  const program = new Command("berth-coordinator")
    .description("Berth's coordinator in a region: merges what the racks see and keeps the ledger of addresses")
    .version(BERTH_VERSION)
    .exitOverride()
    .configureOutput({ writeOut: (text) => ports.stdout(text), writeErr: (text) => ports.stderr(text) })
    .addHelpText("after", "\nExit status: 0 ok, 1 findings, 2 usage, 3 environment.");
  program
    .command("serve")
    .description("serve the racks and the HTTP API")
    .option("--config <file>", "configuration file; coordinator.reference.yaml documents every key")
    .option("--data <dir>", "folder of the database, the certificate authority and the admin token")
    .option("--database <url>", "a PostgreSQL database that coordinators share, instead of one in the data folder")
    .option("--link <host:port>", `where agents dial (default: 127.0.0.1:${LINK_PORT})`)
    .option("--advertise <host:port...>", "the link as agents reach it, where that differs")
    .option("--api <host:port...>", "where the HTTP API listens beside the socket api.sock in the data folder")
    .action(async (options: ServeOptions) => {
      const config = await readConfig(options, ports);
      if (config === null) return;
      const signal = ports.endingSignal();
      const log = createLog({ level: config.log.level, journal: ports.journal, write: (line) => ports.stderr(line) });
      const coordinator = await createCoordinator(config, { ...ports, log });
      await coordinator.run(signal);
    });
  addRegionCommands(program, ports, (options) => readConfig(options, ports));
  return program;
}

/** File, then options over it; null after the problems were told and the exit status set. */
async function readConfig(options: ServeOptions, ports: CoordinatorCliPorts): Promise<CoordinatorConfig | null> {
  const source = { path: options.config ?? "", reference: COORDINATOR_CONFIG_REFERENCE, issueText };
  const read =
    options.config === undefined
      ? ({ ok: true, value: coordinatorConfigSchema.parse({}) } as const)
      : await readConfigFile(ports.files, source, coordinatorConfigSchema);
  const endpoints = [options.link, ...(options.advertise ?? []), ...(options.api ?? [])].filter((text) => text !== undefined);
  const wrong = endpoints
    .filter((text) => !isEndpoint(text))
    .map((text) => ({ code: "endpoint-malformed", at: text, message: "not an endpoint", remedy: "write HOST:PORT" }));
  const problems = [...(read.ok ? [] : read.problems), ...wrong];
  if (!read.ok || problems.length > 0) {
    for (const problem of problems) ports.stderr(`error: ${formatProblem(problem)}\n`);
    ports.exitWith(2);
    return null;
  }
  const { value } = read;
  return {
    ...value,
    data: options.data ?? value.data,
    database: options.database ?? value.database,
    api: { listen: options.api === undefined ? value.api.listen : [...options.api] },
    link: {
      listen: options.link ?? value.link.listen,
      advertise: options.advertise === undefined ? value.link.advertise : [...options.advertise],
    },
  };
}
