import { setTimeout as sleep } from "node:timers/promises";
import { InvalidArgumentError, type Command } from "commander";
import { auditViewSchema, parseEventCursor, type EventCursor } from "@berth/core";
import { z } from "zod";
import { CliFailure, EXIT_ENVIRONMENT, environmentFailure } from "../cli-failure.js";
import type { CliContext } from "../cli-context.js";
import type { ApiClient } from "../connection/api-client.js";
import type { ServerEvent } from "../connection/read-events.js";

interface EventFlags {
  readonly follow?: boolean;
  readonly since?: string;
}

const FIRST = "0.0";
const RETRY_MS = 2000;

export function eventsCommand(program: Command, context: CliContext): void {
  program
    .command("events")
    .description("tell what happened: every change, every move of a virtual address, oldest first; -o json gives a line each")
    .option("-f, --follow", "go on with what happens, until Ctrl-C; without --since from now on")
    .option("--since <id>", "only what came after the event of this id, the first word of a line", parseId)
    .action(async ({ follow, since }: EventFlags) => {
      const client = await context.connect();
      if (follow === true) await followEvents(context, client, since ?? null);
      else await tellEvents(context, client, since ?? FIRST);
    });
}

function parseId(text: string): string {
  if (parseEventCursor(text) === null) throw new InvalidArgumentError("an id is two numbers with a dot between: 17.2");
  return text;
}

/** All up to the newest one there is by now. */
async function tellEvents(context: CliContext, client: ApiClient, since: string): Promise<void> {
  const { signal } = new AbortController();
  const newest = await first(client.events(null, signal));
  for await (const event of client.events(since, signal)) {
    show(context, event);
    if (reached(event.id, newest)) return;
  }
  throw cut("the coordinator ended before it had told everything");
}

/** Where a stream begins. */
async function first(events: AsyncIterable<ServerEvent>): Promise<EventCursor> {
  for await (const { id } of events) {
    const cursor = parseEventCursor(id);
    if (cursor !== null) return cursor;
  }
  throw cut("the coordinator did not say how far its events go");
}

function cut(message: string): CliFailure {
  return environmentFailure({ code: "events-cut", at: "events", message, remedy: "repeat with --since and the last id shown" });
}

function reached(id: string, newest: EventCursor): boolean {
  const cursor = parseEventCursor(id);
  return cursor !== null && cursor.audit >= newest.audit && cursor.move >= newest.move;
}

/** Comes back after every break for what it missed; only the first connection must be possible. */
async function followEvents(context: CliContext, client: ApiClient, since: string | null): Promise<void> {
  const signal = context.ports.interrupted();
  let last = since;
  let begun = false;
  let told = false;
  for (;;) {
    try {
      for await (const event of client.events(last, signal)) {
        show(context, event);
        if (event.id !== "") last = event.id;
        begun = true;
        told = false;
      }
    } catch (error) {
      const passing = error instanceof CliFailure && error.exitCode === EXIT_ENVIRONMENT && begun;
      if (!passing && !signal.aborted) throw error;
    }
    if (signal.aborted) return;
    if (!told) context.ports.stderr.write("the coordinator is away; events go on where they ended when it is back\n");
    told = true;
    await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined); // only Ctrl-C rejects it
  }
}

function show(context: CliContext, event: ServerEvent): void {
  if (event.event !== "ready") context.showNext(event, lineOf);
}

const moveSchema = z.object({ address: z.string(), site: z.string(), from: z.string(), to: z.string(), at: z.string() });

/** Columns of a fixed width, because nobody knows what comes. An event of a newer coordinator shows by its name alone. */
function lineOf({ id, event, data }: ServerEvent): string {
  const change = auditViewSchema.safeParse(data);
  if (event === "change" && change.success) {
    const { at, actor, action, subject } = change.data;
    return line(id, at, actor, action, subject);
  }
  const move = moveSchema.safeParse(data);
  if (event !== "vip-move" || !move.success) return line(id, "-", "-", event, "");
  const { at, site, address, from, to } = move.data;
  return line(id, at, "-", event, `${site} ${address} ${from} -> ${to}`);
}

function line(id: string, at: string, actor: string, action: string, subject: string): string {
  return `${id.padEnd(10)}   ${at.padEnd(24)}   ${actor.padEnd(20)}   ${action.padEnd(18)}   ${subject}`.trimEnd();
}
