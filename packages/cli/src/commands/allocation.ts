import type { Command } from "commander";
import { allocationViewSchema, type AllocationView } from "@berth/core";
import type { CliContext } from "../cli-context.js";
import { formatAge } from "../output/age.js";
import type { Column } from "../output/table.js";

interface AllocationFilters {
  readonly subnet?: string;
  readonly machine?: string;
}

export function allocationCommands(program: Command, context: CliContext): void {
  program
    .command("allocation")
    .description("static addresses and who holds them")
    .command("list")
    .description("list allocations by address")
    .option("--subnet <subnet>", "only of this subnet, by number or prefix")
    .option("--machine <id>", "only of this machine, by id")
    .action(async ({ machine, subnet }: AllocationFilters) => {
      const client = await context.connect();
      const allocations = await client.list("/allocations", { subnet, machine }, allocationViewSchema);
      context.showList(allocations, { columns: columns(context.ports.now()), empty: "no allocations" });
    });
}

function columns(nowMs: number): readonly Column<AllocationView>[] {
  return [
    { title: "ADDRESS", cell: ({ address }) => address },
    { title: "NAME", cell: ({ name }) => name },
    { title: "KIND", cell: ({ kind }) => kind },
    { title: "SUBNET", cell: ({ subnet }) => subnet },
    { title: "NIC", cell: ({ nics }) => nics.join(",") },
    { title: "MACHINE", cell: ({ machineId, owners }) => machineId ?? owners.join(",") },
    { title: "DELIVERY", cell: ({ delivery }) => delivery },
    { title: "AGE", cell: ({ createdAt }) => formatAge(createdAt, nowMs) },
  ];
}
