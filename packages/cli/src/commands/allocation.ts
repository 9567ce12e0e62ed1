import { Option, type Command } from "commander";
import { allocationKindSchema, allocationViewSchema, machineViewSchema, type AllocationView } from "@berth/core";
import type { CliContext } from "../cli-context.js";
import { apiPath, type ApiClient } from "../connection/api-client.js";
import { allocationChangeCommands } from "./allocation-change.js";
import { formatAge } from "../output/age.js";
import type { Column } from "../output/table.js";

interface AllocationFilters {
  readonly subnet?: string;
  readonly machine?: string;
  readonly kind?: string;
}

export function allocationCommands(program: Command, context: CliContext): void {
  const allocation = program.command("allocation").description("static addresses and who holds them");
  allocationChangeCommands(allocation, context);
  allocation
    .command("list")
    .description("list allocations by address")
    .option("--subnet <subnet>", "only of this subnet, by number or prefix")
    .option("--machine <machine>", "only of this machine, by id, name, NIC or address")
    .addOption(new Option("--kind <kind>", "only of this kind").choices(allocationKindSchema.options))
    .action(async ({ kind, machine, subnet }: AllocationFilters) => {
      const client = await context.connect();
      const holder = machine === undefined ? undefined : await machineId(client, machine);
      const allocations = await client.list("/allocations", { subnet, machine: holder, kind }, allocationViewSchema);
      context.showList(allocations, { columns: columns(context.ports.now()), empty: "no allocations" });
    });
}

/** A sighting has no id, and no addresses of the ledger either. */
async function machineId(client: ApiClient, reference: string): Promise<string> {
  const { id } = await client.call({ path: apiPath("machines", reference), answer: machineViewSchema });
  return id ?? reference;
}

function columns(nowMs: number): readonly Column<AllocationView>[] {
  return [
    { title: "ADDRESS", cell: ({ address }) => address },
    { title: "NAME", cell: ({ name }) => name },
    { title: "KIND", cell: ({ kind }) => kind },
    { title: "SUBNET", cell: ({ subnet }) => subnet, wide: true },
    { title: "NIC", cell: ({ nics }) => nics.join(",") },
    { title: "MACHINE", cell: ({ machineId, owners }) => machineId ?? owners.join(",") },
    { title: "DELIVERY", cell: ({ delivery }) => delivery, wide: true },
    { title: "WIRE", cell: ({ verification }) => verification },
    { title: "AGE", cell: ({ createdAt }) => formatAge(createdAt, nowMs) },
  ];
}
