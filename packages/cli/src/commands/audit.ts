import type { Command } from "commander";
import { PAGE_ITEMS_MAX, auditViewSchema, pageSchema, type AuditView } from "@berth/core";
import { parseCount } from "../arguments/parse-duration.js";
import type { CliContext } from "../cli-context.js";
import type { Column } from "../output/table.js";

interface AuditFlags {
  readonly actor?: string;
  readonly action?: string;
  readonly limit: number;
}

export function auditCommands(program: Command, context: CliContext): void {
  program
    .command("audit")
    .description("the log of all changes")
    .command("list")
    .description("list who changed what, newest first; -o json shows the records before and after")
    .option("--actor <actor>", "only changes of this one")
    .option("--action <action>", "only changes of this kind: enroll-machine, create-vip, ...")
    .option("--limit <count>", "how many", parseCount, 50)
    .action(async ({ action, actor, limit }: AuditFlags) => {
      const client = await context.connect();
      const query = new URLSearchParams({ limit: String(Math.min(Math.max(limit, 1), PAGE_ITEMS_MAX)) });
      if (actor !== undefined) query.set("actor", actor);
      if (action !== undefined) query.set("action", action);
      const page = await client.call({ path: `/audit?${query.toString()}`, answer: pageSchema(auditViewSchema) });
      context.showList(page.items, { columns: COLUMNS, empty: "no changes" });
    });
}

const COLUMNS: readonly Column<AuditView>[] = [
  { title: "NUMBER", cell: ({ number }) => String(number) },
  { title: "AT", cell: ({ at }) => at },
  { title: "ACTOR", cell: ({ actor }) => actor },
  { title: "ACTION", cell: ({ action }) => action },
  { title: "SUBJECT", cell: ({ subject }) => subject },
];
