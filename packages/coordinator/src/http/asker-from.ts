import { canonicalJson } from "@berth/core";
import { hash } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Asker } from "../ledger/asker.js";
import { actorOf } from "./authenticate.js";

/** Who asks for a change and how, from a request whose query and headers passed the schemas of changes. */
export function askerFrom(request: FastifyRequest): Asker {
  const key = request.headers["idempotency-key"];
  const ifMatch = request.headers["if-match"];
  return {
    actor: actorOf(request),
    dryRun: isDryRun(request),
    ...(typeof key === "string" ? { once: { key, request: digestOf(request) } } : {}),
    ...(ifMatch === undefined ? {} : { ifMatch: ifMatch.split(",").map((tag) => tag.trim()) }),
  };
}

/** Marks the answer to a change: a dry run as one, a real one with the entity tag of what it made. */
export function markChange(request: FastifyRequest, reply: FastifyReply, tag: string | null): void {
  if (isDryRun(request)) reply.header("berth-dry-run", "true");
  else if (tag !== null) reply.header("etag", tag);
}

/** 201 for what is new, unless it was a dry run. */
export function createdStatus(request: FastifyRequest, created: boolean): 200 | 201 {
  return created && !isDryRun(request) ? 201 : 200;
}

function isDryRun(request: FastifyRequest): boolean {
  return (request.query as { readonly dry_run?: string }).dry_run === "true";
}

function digestOf({ method, url, body }: FastifyRequest): string {
  const [path] = url.split("?");
  return hash("sha256", `${method} ${path ?? ""} ${canonicalJson(body ?? null)}`, "hex");
}
