import { Option, type Command } from "commander";
import { apiTokenViewSchema, createdApiTokenViewSchema, roleSchema, type ApiTokenView } from "@berth/core";
import { parseDuration } from "../arguments/parse-duration.js";
import type { CliContext } from "../cli-context.js";
import { apiPath } from "../connection/api-client.js";
import { formatAge } from "../output/age.js";
import type { Column } from "../output/table.js";

interface CreateOptions {
  readonly role: string;
  readonly ttl?: number;
}

export function apiTokenCommands(program: Command, context: CliContext): void {
  const tokens = program.command("api-token").description("tokens of the HTTP API; only an administrator may see or change them");
  tokens
    .command("create")
    .description("print a new token, for BERTH_TOKEN or a script; it is shown once")
    .argument("<name>", "whom it is for; changes are written down under it")
    .addOption(
      new Option("--role <role>", "what it may do: read, read and change, or everything")
        .choices(roleSchema.options)
        .default("read"),
    )
    .option("--ttl <duration>", "how long it lives: 12h, 30d (default: until it is revoked)", parseDuration)
    .action(async (name: string, { role, ttl }: CreateOptions) => {
      const client = await context.connect();
      const body = { name, role, ...(ttl === undefined ? {} : { ttlSeconds: ttl }) };
      const made = await client.call({ method: "POST", path: "/api-tokens", body, answer: createdApiTokenViewSchema });
      context.show(made, ({ token }) => `${token}\n`);
      context.note(`role ${made.role}, ${made.expiresAt === null ? "until it is revoked" : `until ${made.expiresAt}`}`);
    });
  tokens
    .command("list")
    .description("list all tokens; the administrator's of the first start is not among them")
    .action(async () => {
      const client = await context.connect();
      const list = await client.list("/api-tokens", {}, apiTokenViewSchema);
      context.showList(list, { columns: columns(context.ports.now()), empty: "no API tokens" });
    });
  tokens
    .command("revoke")
    .description("make a token worthless")
    .argument("<token>", "its name or id")
    .action(async (reference: string) => {
      const client = await context.connect();
      const revoked = await client.call({ method: "DELETE", path: apiPath("api-tokens", reference), answer: apiTokenViewSchema });
      context.show(revoked, ({ id, name }) => `revoked ${name}, ${id}\n`);
    });
}

function columns(nowMs: number): readonly Column<ApiTokenView>[] {
  return [
    { title: "NAME", cell: ({ name }) => name },
    { title: "ROLE", cell: ({ role }) => role },
    { title: "AGE", cell: ({ createdAt }) => formatAge(createdAt, nowMs) },
    { title: "MADE BY", cell: ({ createdBy }) => createdBy },
    { title: "EXPIRES", cell: ({ expiresAt }) => expiresAt ?? "" },
    { title: "ID", cell: ({ id }) => id },
  ];
}
