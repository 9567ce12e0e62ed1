import { InvalidArgumentError, type Command } from "commander";
import type { z } from "zod";
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
    .option("--limit <count>", "how many", parseLimit, 50)
    .action(async ({ action, actor, limit }: AuditFlags) => {
      const client = await context.connect();
      const entries: AuditView[] = [];
      for (let after: string | null = null; entries.length < limit; ) {
        const query = new URLSearchParams({ limit: String(Math.min(limit - entries.length, PAGE_ITEMS_MAX)) });
        if (actor !== undefined) query.set("actor", actor);
        if (action !== undefined) query.set("action", action);
        if (after !== null) query.set("after", after);
        const page: z.infer<typeof pageOfAudit> = await client.call({ path: `/audit?${query.toString()}`, answer: pageOfAudit });
        entries.push(...page.items);
        if (page.next === null) break;
        after = page.next;
      }
      context.showList(entries, { columns: COLUMNS, empty: "no changes" });
    });
}

const pageOfAudit = pageSchema(auditViewSchema);

function parseLimit(text: string): number {
  const limit = parseCount(text);
  if (limit === 0) throw new InvalidArgumentError("Write how many, 1 or more.");
  return limit;
}

const COLUMNS: readonly Column<AuditView>[] = [
  { title: "NUMBER", cell: ({ number }) => String(number) },
  { title: "AT", cell: ({ at }) => at },
  { title: "ACTOR", cell: ({ actor }) => actor },
  { title: "ACTION", cell: ({ action }) => action },
  { title: "SUBJECT", cell: ({ subject }) => subject },
];
