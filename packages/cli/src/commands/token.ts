import type { Command } from "commander";
import { tokenViewSchema } from "@berth/core";
import { parseDuration } from "../arguments/parse-duration.js";
import type { CliContext } from "../cli-context.js";

interface TokenOptions {
  readonly rack?: string;
  readonly site?: string;
  readonly ttl?: number;
  readonly replace?: true;
}

export function tokenCommands(program: Command, context: CliContext): void {
  program
    .command("token")
    .description("join lines for new racks")
    .command("create")
    .description("print one join line, for 'berth-agent join' on the rack host; it is shown once and works once")
    .option("--rack <name>", "name the rack shall have (default: the name of its host)")
    .option("--site <name>", "site the rack stands in (default: default)")
    .option("--replace", "the rack is known: give its place to another host, which ends the link of the one that has it now")
    .option("--ttl <duration>", "how long it can be used: 15m, 1h, 2d", parseDuration)
    .action(async ({ rack, site, ttl, replace }: TokenOptions) => {
      const client = await context.connect();
      const body = {
        ...(rack === undefined ? {} : { rack }),
        ...(site === undefined ? {} : { site }),
        ...(ttl === undefined ? {} : { ttlSeconds: ttl }),
        ...(replace === undefined ? {} : { replace }),
      };
      const token = await client.call({ method: "POST", path: "/tokens", body, answer: tokenViewSchema });
      context.show(token, ({ joinLine }) => `${joinLine}\n`);
      context.note(`usable once until ${token.expiresAt}`);
    });
}
