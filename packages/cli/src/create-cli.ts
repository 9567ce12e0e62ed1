import { Command, Option } from "commander";
import { BERTH_VERSION } from "@berth/core";
import { createContext } from "./cli-context.js";
import type { CliPorts } from "./cli-ports.js";
import { allocationCommands } from "./commands/allocation.js";
import { auditCommands } from "./commands/audit.js";
import { apiTokenCommands } from "./commands/api-token.js";
import { completionCommand } from "./commands/completion.js";
import { eventsCommand } from "./commands/events.js";
import { exportCommands } from "./commands/export.js";
import { importCommands } from "./commands/import.js";
import { importPlanCommand } from "./commands/import-plan.js";
import { leaseCommands } from "./commands/lease.js";
import { machineCommands } from "./commands/machine.js";
import { nameCommands } from "./commands/name.js";
import { networkCommands } from "./commands/network.js";
import { problemCommands } from "./commands/problem.js";
import { rackCommands } from "./commands/rack.js";
import { reservationCommands } from "./commands/reservation.js";
import { statusCommand } from "./commands/status.js";
import { subnetCommands } from "./commands/subnet.js";
import { tokenCommands } from "./commands/token.js";
import { vipCommands } from "./commands/vip.js";
import { DEFAULT_URL } from "./connection/api-target.js";
import { addExamples } from "./help/examples.js";
import { FORMATS } from "./output/document.js";

const MANUAL = `
Environment:
  BERTH_URL         where the coordinator's API is: http://HOST:PORT, https://HOST:PORT or
                    unix:/PATH of its socket (default ${DEFAULT_URL})
  BERTH_TOKEN       the API token; or
  BERTH_TOKEN_FILE  the file it stands in
  BERTH_CA_FILE     certificate of the authority behind an https coordinator
  NO_COLOR          no colour, not even on a terminal

Exit codes:
  0  done
  1  refused by the coordinator, or there are findings; each reason is on stderr
  2  wrong usage
  3  the coordinator cannot be reached, or something on this host is in the way

Examples:
  berth token create --rack rack-1
  berth subnet create 192.168.50.0/24 --domain rack1.example --gateway 192.168.50.1 --mode link-local
  berth machine list
  berth machine enroll 52:54:00:12:34:56 --name node-1
  berth lease list --mac 52:54 -o json
  berth import csv --dry-run machines.csv
`;

/** Builds the whole command. Nothing is read, sent or printed before it parses arguments. */
export function createCli(ports: CliPorts): Command {
  const program = new Command("berth")
    .description("Fixed addresses and names for the machines of bare-metal racks: the operator's command.")
    .version(BERTH_VERSION, "-V, --version", "print the version and exit")
    .helpOption("-h, --help", "print this help and exit")
    .helpCommand("help [command]", "print the help of a command")
    .addOption(
      new Option("-o, --output <format>", "how to print; wide is a table with all columns").choices(FORMATS).default("table"),
    )
    .option("--json", "short for -o json")
    .configureHelp({ showGlobalOptions: true, sortSubcommands: false })
    .configureOutput({ writeOut: (text) => ports.stdout.write(text), writeErr: (text) => ports.stderr.write(text) })
    .showHelpAfterError("(see --help)")
    .exitOverride()
    .addHelpText("after", MANUAL);
  const context = createContext(program, ports);
  statusCommand(program, context);
  subnetCommands(program, context);
  machineCommands(program, context);
  importPlanCommand(importCommands(program, context), context);
  exportCommands(program, context);
  allocationCommands(program, context);
  leaseCommands(program, context);
  rackCommands(program, context);
  networkCommands(program, context);
  vipCommands(program, context);
  nameCommands(program, context);
  reservationCommands(program, context);
  problemCommands(program, context);
  auditCommands(program, context);
  eventsCommand(program, context);
  tokenCommands(program, context);
  apiTokenCommands(program, context);
  completionCommand(program, context);
  addExamples(program);
  return program;
}
