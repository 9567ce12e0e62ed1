import type { Command } from "commander";
import { ansibleInventory, hostsFile, machinesCsv, networkConfig, type ExportedMachine } from "@berth/core";
import type { CliContext } from "../cli-context.js";
import { CliFailure, EXIT_REFUSED } from "../cli-failure.js";
import { formatDocument, formatYaml11 } from "../output/document.js";
import { withProgress } from "../output/progress.js";
import { readExport, readExportOne } from "../transfer/read-export.js";

interface ExportFormat {
  readonly description: string;
  readonly format: (machines: readonly ExportedMachine[]) => string;
}

const FORMATS: Readonly<Record<string, ExportFormat>> = {
  csv: {
    description: "a CSV that 'berth import csv' reads back: NICs, name, address and subnet of every machine",
    format: machinesCsv,
  },
  json: {
    description: "all machines with all their addresses, and the virtual addresses",
    format: (machines) => formatDocument({ machines }, "json"),
  },
  ansible: {
    description: "an inventory in YAML, with a group a subnet and one a domain",
    format: (machines) => formatYaml11(ansibleInventory(machines)),
  },
  hosts: { description: "lines for /etc/hosts", format: hostsFile },
};

/** Exports print one format each, whatever `-o` says: what they print is a file for another program. */
export function exportCommands(program: Command, context: CliContext): void {
  const command = program.command("export").description("print machines and addresses in another system's form");
  for (const [name, { description, format }] of Object.entries(FORMATS))
    command
      .command(name)
      .description(description)
      .option("--subnet <subnet>", "only this one, by number or prefix")
      .action(async ({ subnet }: { readonly subnet?: string }) => {
        const client = await context.connect();
        const machines = await withProgress(context.ports.stderr, "reading the ledger", readExport(client, subnet));
        context.ports.stdout.write(format(machines));
      });
  networkCommand(command, context, {
    name: "netplan",
    description: "the netplan file of one machine: /etc/netplan/60-berth.yaml",
    root: "network",
  });
  networkCommand(command, context, {
    name: "cloud-init",
    description: "the network-config of one machine for cloud-init (NoCloud)",
    root: null,
  });
}

interface NetworkFormat {
  readonly name: string;
  readonly description: string;
  /** The key that everything stands under; null for none. */
  readonly root: string | null;
}

function networkCommand(command: Command, context: CliContext, { description, name, root }: NetworkFormat): void {
  command
    .command(name)
    .description(description)
    .argument("<machine>", "id, name, NIC or address")
    .action(async (reference: string) => {
      const { dnsOf, machine } = await readExportOne(await context.connect(), reference);
      const config = networkConfig(machine, dnsOf);
      if (!config.ok) throw new CliFailure(EXIT_REFUSED, config.problems);
      const { value } = config;
      context.ports.stdout.write(formatYaml11(root === null ? value : { [root]: value }));
    });
}
