import type { Command } from "commander";
import { networkViewSchema, type NetworkView } from "@berth/core";
import type { CliContext } from "../cli-context.js";
import type { Column } from "../output/table.js";

export function networkCommands(program: Command, context: CliContext): void {
  program
    .command("network")
    .description("networks that racks are on, beside the subnets that are declared")
    .command("list")
    .description("list networks: proposed ones are seen and not declared, unseen ones declared and on no rack")
    .action(async () => {
      const client = await context.connect();
      const networks = await client.list("/networks", {}, networkViewSchema);
      context.showList(networks, { columns: COLUMNS, empty: "no networks" });
    });
}

const COLUMNS: readonly Column<NetworkView>[] = [
  { title: "PREFIX", cell: ({ prefix }) => prefix },
  { title: "SITE", cell: ({ site }) => site },
  { title: "STATE", cell: ({ state }) => state },
  { title: "SUBNET", cell: ({ subnet }) => (subnet === null ? "" : String(subnet)) },
  { title: "RACKS", cell: ({ racks }) => racks.map(({ addresses, name }) => `${name} ${addresses.join(",")}`).join("; ") },
  { title: "SEGMENT", cell: ({ segment }) => segment?.name ?? "", wide: true },
  { title: "DISCREPANCIES", cell: ({ discrepancies }) => discrepancies.join("; ") },
];
