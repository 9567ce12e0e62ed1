import { Option, type Command } from "commander";
import { nameViewSchema, recordTypeSchema, type NameView } from "@berth/core";
import { changePath, withDryRun, type ChangeFlags } from "../arguments/dry-run.js";
import type { CliContext } from "../cli-context.js";
import { formatAge } from "../output/age.js";
import type { Column } from "../output/table.js";

interface NameFilters {
  readonly type?: string;
  readonly contains?: string;
  readonly records?: boolean;
}

export function nameCommands(program: Command, context: CliContext): void {
  const name = program.command("name").description("names in the zones: operators' records, and those of allocations");
  name
    .command("list")
    .description("list names; those with an id are records")
    .addOption(new Option("--type <type>", "only records of this type").choices(recordTypeSchema.options))
    .option("--contains <text>", "only names that contain this")
    .option("--records", "only operators' records")
    .action(async ({ type, contains, records }: NameFilters) => {
      const client = await context.connect();
      const filters = { type, name: contains, source: records === true ? "record" : undefined };
      const names = await client.list("/names", filters, nameViewSchema);
      context.showList(names, { columns: columns(context.ports.now()), empty: "no names" });
    });
  const create = name
    .command("create")
    .description("put a record into the zone of a declared subnet's domain")
    .argument("<name>", "full name: db.rack1.example")
    .addArgument(name.createArgument("<type>", "what it is").choices(recordTypeSchema.options))
    .argument("<value>", "address, name that it is an alias of, or text");
  withDryRun(create).action(async (owner: string, type: string, value: string, flags: ChangeFlags) => {
    const client = await context.connect();
    const path = changePath(context, flags, "names");
    const made = await client.call({ method: "POST", path, body: { name: owner, type, value }, answer: nameViewSchema });
    context.show(made, (view) => `${recordText(view)}, id ${view.id ?? ""}\n`);
  });
  const remove = name
    .command("remove")
    .description("take a record away")
    .argument("<record>", "its id, or its name where it has one record only");
  withDryRun(remove).action(async (reference: string, flags: ChangeFlags) => {
    const client = await context.connect();
    const path = changePath(context, flags, "names", reference);
    const removed = await client.call({ method: "DELETE", path, answer: nameViewSchema });
    context.show(removed, (view) => `removed ${recordText(view)}\n`);
  });
}

function recordText({ name, type, value }: NameView): string {
  return `${name} ${type} ${value}`;
}

function columns(nowMs: number): readonly Column<NameView>[] {
  return [
    { title: "NAME", cell: ({ name }) => name },
    { title: "TYPE", cell: ({ type }) => type },
    { title: "VALUE", cell: ({ value }) => value },
    { title: "OF", cell: ({ holder, source }) => holder ?? source },
    { title: "AGE", cell: ({ createdAt }) => formatAge(createdAt, nowMs) },
    { title: "ID", cell: ({ id }) => id ?? "" },
  ];
}
