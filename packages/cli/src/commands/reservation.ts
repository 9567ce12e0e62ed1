import type { Command } from "commander";
import { reservationViewSchema, type ReservationView } from "@berth/core";
import { changePath, withDryRun, type ChangeFlags } from "../arguments/dry-run.js";
import type { CliContext } from "../cli-context.js";
import { formatAge } from "../output/age.js";
import type { Column } from "../output/table.js";

interface ReserveFlags extends ChangeFlags {
  readonly exclude?: boolean;
  readonly subnet?: string;
  readonly note?: string;
}

export function reservationCommands(program: Command, context: CliContext): void {
  const reservation = program.command("reservation").description("addresses that nobody is given");
  reservation
    .command("list")
    .description("list reservations and exclusions by address")
    .option("--subnet <subnet>", "only of this subnet, by number or prefix")
    .action(async ({ subnet }: { readonly subnet?: string }) => {
      const client = await context.connect();
      const found = await client.list("/reservations", { subnet }, reservationViewSchema);
      context.showList(found, { columns: columns(context.ports.now()), empty: "no reservations" });
    });
  const create = reservation
    .command("create")
    .description("keep an address, or all from the first to the last, from being given")
    .argument("<first>", "address")
    .argument("[last]", "last address of a range")
    .option("--exclude", "an exclusion: somebody outside Berth has it, it is never to be given")
    .option("--subnet <subnet>", "number or prefix (default: the one around the address)")
    .option("--note <text>", "why");
  withDryRun(create).action(async (first: string, last: string | undefined, flags: ReserveFlags) => {
    const client = await context.connect();
    const { exclude, note, subnet } = flags;
    const body = { kind: exclude === true ? "exclusion" : "reservation", first, last, subnet, note };
    const path = changePath(context, flags, "reservations");
    const made = await client.call({ method: "POST", path, body, answer: reservationViewSchema });
    context.show(made, (view) => `${rangeText(view)} in ${view.subnet}, ${view.kind} ${view.id}\n`);
  });
  const remove = reservation
    .command("remove")
    .description("let the addresses be given again")
    .argument("<reservation>", "its id, or its first address");
  withDryRun(remove).action(async (reference: string, flags: ChangeFlags) => {
    const client = await context.connect();
    const path = changePath(context, flags, "reservations", reference);
    const removed = await client.call({ method: "DELETE", path, answer: reservationViewSchema });
    context.show(removed, (view) => `removed ${view.kind} ${view.id}, ${rangeText(view)}\n`);
  });
}

function rangeText({ first, last }: ReservationView): string {
  return first === last ? first : `${first}-${last}`;
}

function columns(nowMs: number): readonly Column<ReservationView>[] {
  return [
    { title: "ADDRESSES", cell: rangeText },
    { title: "KIND", cell: ({ kind }) => kind },
    { title: "SUBNET", cell: ({ subnet }) => subnet },
    { title: "NOTE", cell: ({ note }) => note },
    { title: "AGE", cell: ({ createdAt }) => formatAge(createdAt, nowMs) },
    { title: "ID", cell: ({ id }) => id },
  ];
}
