import type { Command } from "commander";
import {
  finishRows,
  formatProblem,
  subnetViewSchema,
  type ImportReading,
  type ImportedMachine,
  type ImportedSubnetView,
  type ImportedView,
  printable,
} from "@berth/core";
import type { CliContext } from "../cli-context.js";
import { CliFailure, EXIT_REFUSED } from "../cli-failure.js";
import type { ApiClient } from "../connection/api-client.js";
import { withProgress } from "../output/progress.js";
import { formatTable, type Column } from "../output/table.js";
import { readImport, readImportFile, type ImportFormat } from "../transfer/read-import.js";
import { sendImport } from "../transfer/send-import.js";

interface ImportFlags {
  readonly dryRun?: boolean;
  readonly subnet?: string;
  readonly names: boolean;
  readonly onlyAddressed?: boolean;
}

const FORMATS: Readonly<Record<ImportFormat, string>> = {
  csv: "a table whose first line names the columns: nic, and name, address, subnet where there are such; several NICs of one machine have a blank between them",
  dhcpd: "the host declarations of a dhcpd.conf; name the files it includes too",
  maas: "the answer of 'maas PROFILE machines read'",
  netbox: "the answers of /api/ipam/ip-addresses/?limit=0 and /api/dcim/interfaces/?limit=0, both files together",
};

const COLUMNS: readonly Column<ImportedMachine>[] = [
  { title: "ADDRESS", cell: ({ address }) => address },
  { title: "NAME", cell: ({ name }) => name },
  { title: "NIC", cell: ({ nics }) => nics.join(",") },
  { title: "SUBNET", cell: ({ subnet }) => subnet },
  { title: "", cell: ({ created }) => (created ? "new" : "as before") },
];

const SUBNET_COLUMNS: readonly Column<ImportedSubnetView>[] = [
  { title: "SUBNET", cell: ({ prefix }) => prefix },
  { title: "", cell: ({ created }) => (created ? "new" : "as before") },
];

export function importCommands(program: Command, context: CliContext): Command {
  const command = program
    .command("import")
    .description("enroll machines that another system knows: all of them, or none while one row is refused");
  for (const [format, description] of Object.entries(FORMATS))
    command
      .command(format)
      .description(description)
      .argument("<file...>", "files, read as one import")
      .option("--dry-run", "let the coordinator decide, and change nothing")
      .option("--subnet <subnet>", "number or prefix, for rows that name neither an address nor a subnet")
      .option("--no-names", "drop the names: machines get the pre-made names of their addresses")
      .option("--only-addressed", "leave out rows without an address")
      .action((files: readonly string[], flags: ImportFlags) =>
        runImport(context, { format: format as ImportFormat, files, flags }),
      );
  return command;
}

interface ImportOrder {
  readonly format: ImportFormat;
  readonly files: readonly string[];
  readonly flags: ImportFlags;
}

async function runImport(context: CliContext, order: ImportOrder): Promise<void> {
  const client = await context.connect();
  const reading = await readRows(context, client, order);
  for (const skipped of reading.skipped) context.note(`left out: ${printable(formatProblem(skipped))}`);
  if (reading.rows.length === 0 && reading.refusals.length === 0) {
    const remedy = "check the file and the format";
    throw new CliFailure(EXIT_REFUSED, [
      { code: "import-empty", at: order.files.join(" "), message: "there is no machine in it", remedy },
    ]);
  }
  // With refusals nothing is imported, but the coordinator is asked about the rest all the same: one report names every row.
  const dryRun = order.flags.dryRun === true || reading.refusals.length > 0;
  const { rows } = reading;
  const asking = `asking the coordinator about ${rows.length} machines`;
  const answer =
    rows.length === 0
      ? null
      : await withProgress(context.ports.stderr, asking, sendImport(client, { subnets: [], rows, dryRun }));
  const problems = [...reading.refusals, ...(answer?.kind === "refused" ? answer.problems : [])];
  if (problems.length > 0 || answer?.kind !== "accepted") {
    context.note(`${rows.length} machines read, ${problems.length} reasons against it; nothing was imported`);
    throw new CliFailure(EXIT_REFUSED, problems);
  }
  showImported(context, answer.view);
}

async function readRows(context: CliContext, client: ApiClient, { files, flags, format }: ImportOrder): Promise<ImportReading> {
  const subnets = await client.list("/subnets", {}, subnetViewSchema);
  const texts = await Promise.all(files.map((file) => readImportFile(context.ports, file)));
  const reading = readImport(format, texts, [...new Set(subnets.map(({ domain }) => domain))]);
  const { names, onlyAddressed = false, subnet = null } = flags;
  return finishRows(reading, { names, onlyAddressed, subnet });
}

export function showImported(context: CliContext, view: ImportedView): void {
  context.show(view, ({ machines, subnets }) =>
    subnets.length === 0
      ? formatTable(machines, COLUMNS)
      : `${formatTable(subnets, SUBNET_COLUMNS)}\n${formatTable(machines, COLUMNS)}`,
  );
  const done = view.dryRun ? "would be imported" : "imported";
  context.note(`${view.machines.length} machines ${done}: ${view.created} new, ${view.unchanged} as before`);
}
