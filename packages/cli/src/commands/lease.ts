import { Option, type Command } from "commander";
import { leaseViewSchema, type LeaseView } from "@berth/core";
import type { CliContext } from "../cli-context.js";
import type { Column } from "../output/table.js";

interface LeaseFilters {
  readonly address?: string;
  readonly mac?: string;
  readonly name?: string;
  readonly rack?: string;
  readonly state?: string;
  readonly inUse?: boolean;
}

export function leaseCommands(program: Command, context: CliContext): void {
  program
    .command("lease")
    .description("what the racks' DHCP servers have leased")
    .command("list")
    .description("list leases by address; every filter given must match")
    .option("--address <part>", "part of the address")
    .option("--mac <part>", "part of the hardware address")
    .option("--name <part>", "part of the name the client claimed")
    .option("--rack <rack>", "name or id of the rack")
    .addOption(new Option("--state <state>", "binding state").choices(leaseViewSchema.shape.state.options))
    .option("--in-use", "only leases in use")
    .action(async ({ inUse, ...filters }: LeaseFilters) => {
      const client = await context.connect();
      const query = { ...filters, inUse: inUse === true ? "true" : undefined };
      context.showList(await client.list("/leases", query, leaseViewSchema), { columns: COLUMNS, empty: "no leases" });
    });
}

const COLUMNS: readonly Column<LeaseView>[] = [
  { title: "ADDRESS", cell: ({ address }) => address },
  { title: "STATE", cell: ({ inUse, state }) => (state === "active" && !inUse ? "lapsed" : state) },
  { title: "NIC", cell: ({ hardwareAddress }) => hardwareAddress ?? "" },
  { title: "CLAIMED-NAME", cell: ({ name }) => name ?? "" },
  { title: "ENDS", cell: ({ ends }) => ends ?? "" },
  { title: "RACK", cell: ({ rack, stale }) => (stale ? `${rack} (silent)` : rack) },
  { title: "MACHINE", cell: ({ machine }) => machine ?? "" },
];
