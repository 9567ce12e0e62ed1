import { Option, type Command } from "commander";
import { enrolledViewSchema, machineViewSchema, machineViewStateSchema, type EnrolledView, type MachineView } from "@berth/core";
import { changePath, withDryRun, type ChangeFlags } from "../arguments/dry-run.js";
import type { CliContext } from "../cli-context.js";
import { apiPath } from "../connection/api-client.js";
import { formatAge } from "../output/age.js";
import { formatFields, type Column } from "../output/table.js";
import { warningFields } from "../output/warning-fields.js";
import { machineChangeCommands } from "./machine-change.js";

interface EnrollOptions extends ChangeFlags {
  readonly name?: string;
  readonly subnet?: string;
  readonly address?: string;
}

export function machineCommands(program: Command, context: CliContext): void {
  const machine = program.command("machine").description("machines, and sightings of what could become one");
  listCommand(machine, context);
  enrollCommand(machine, context);
  machineChangeCommands(machine, context);

  machine
    .command("show")
    .description("show one machine or sighting")
    .argument("<machine>", "id, name, NIC or address")
    .action(async (reference: string) => {
      const client = await context.connect();
      const found = await client.call({ path: apiPath("machines", reference), answer: machineViewSchema });
      context.show(found, (view) => machineText(view, context.ports.now()));
    });
  const release = machine
    .command("release")
    .description("end all allocations of a machine; its addresses rest before anybody else gets them")
    .argument("<machine>", "id, name or NIC");
  withDryRun(release).action(async (reference: string, flags: ChangeFlags) => {
    const client = await context.connect();
    const path = changePath(context, flags, "machines", reference, "release");
    const released = await client.call({ method: "POST", path, body: {}, answer: machineViewSchema });
    context.show(released, (view) => `released ${machineName(view)}\n`);
  });
}

function listCommand(machine: Command, context: CliContext): void {
  machine
    .command("list")
    .description("list machines and sightings (leases in use of NICs that belong to no machine)")
    .addOption(new Option("--state <state>", "only machines in this state").choices(machineViewStateSchema.options))
    .action(async ({ state }: { readonly state?: string }) => {
      const client = await context.connect();
      const machines = await client.list("/machines", { state }, machineViewSchema);
      context.showList(machines, { columns: columns(context.ports.now()), empty: "no machines" });
    });
}

function enrollCommand(machine: Command, context: CliContext): void {
  const enroll = machine
    .command("enroll")
    .description("give a machine its static address and name; the same call again answers the same")
    .argument("<nic...>", "hardware addresses of its NICs, the one that boots first; several are a bond")
    .option("--name <name>", "its name (default: the pre-made name of its address)")
    .option("--subnet <subnet>", "number or prefix (default: that of the rack which sees it)")
    .option("--address <address>", "exactly this address (default: the coordinator chooses)");
  withDryRun(enroll).action(async (nics: readonly string[], { dryRun = false, ...options }: EnrollOptions) => {
    const client = await context.connect();
    const body = { nics, ...options };
    const path = changePath(context, { dryRun }, "machines", "enroll");
    const enrolled = await client.call({ method: "POST", path, body, answer: enrolledViewSchema });
    context.show(enrolled, enrolledText);
  });
}

function enrolledText({ allocation, created, machine, warnings }: EnrolledView): string {
  const before = created ? "enrolled" : "already enrolled";
  return formatFields([
    ["Machine", `${machineName(machine)}, ${before}`],
    ["Address", `${allocation.address} in ${allocation.subnet}`],
    ["Name", allocation.name],
    ["NICs", machine.nics.join(", ")],
    ...warningFields(warnings),
  ]);
}

function columns(nowMs: number): readonly Column<MachineView>[] {
  return [
    { title: "NAME", cell: ({ addresses, name }) => name ?? addresses[0]?.name ?? "" },
    { title: "STATE", cell: ({ state }) => state },
    { title: "ADDRESS", cell: ({ addresses }) => addresses.map(({ address }) => address).join(",") },
    { title: "LEASE", cell: ({ leases }) => leases.map(({ address }) => address).join(",") },
    { title: "NIC", cell: ({ nics }) => nics.join(",") },
    { title: "RACK", cell: ({ rack }) => rack ?? "" },
    { title: "SEEN", cell: ({ seenAt }) => formatAge(seenAt, nowMs) },
    { title: "ID", cell: ({ id }) => id ?? "", wide: true },
  ];
}

function machineName({ addresses, id, name, nics }: MachineView): string {
  return name ?? addresses[0]?.name ?? id ?? nics[0] ?? "";
}

function machineText(view: MachineView, nowMs: number): string {
  return formatFields([
    ["Machine", machineName(view)],
    ["Id", view.id ?? ""],
    ["State", view.state],
    ["NICs", view.nics.join(", ")],
    ...view.addresses.map((held): [string, string] => [
      "Address",
      `${held.address} in ${held.subnet}, ${held.name}, ${held.kind}`,
    ]),
    ...view.leases.map((lease): [string, string] => [
      "Lease",
      `${lease.address} on rack ${lease.rack}, ends ${lease.ends ?? "unknown"}${lease.stale ? ", rack silent" : ""}`,
    ]),
    ["Rack", view.rack ?? ""],
    ["Seen", view.seenAt === null ? "" : `${formatAge(view.seenAt, nowMs)} ago, ${view.seenAt}`],
    ["Age", formatAge(view.createdAt, nowMs)],
  ]);
}
