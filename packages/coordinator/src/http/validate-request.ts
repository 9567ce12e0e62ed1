import type { FastifySchemaCompiler } from "fastify";
import { z } from "zod";
import { issueText, type Problem } from "@berth/core";
import { ApiRefusal } from "./api-refusal.js";

const PROBLEMS_MAX = 64;
const KEY_CHARACTERS_MAX = 80;
const MISSING = "is missing";

/** Checks a part of a request against its schema and reports every wrong key at once, each with its path. */
export const validateRequest: FastifySchemaCompiler<z.ZodType> = ({ schema, httpPart }) => {
  const part = httpPart === "body" || httpPart === undefined ? "" : httpPart === "querystring" ? "query" : httpPart;
  const hasNothing = nothingToCheck(schema, httpPart);
  return (received) => {
    if (hasNothing(received)) return true;
    const result = schema.safeParse(received);
    // Headers stay as they came, because Fastify would copy all of them whenever somebody looks at one: no schema of headers makes anything else of them.
    if (result.success) return httpPart === "headers" ? true : { value: result.data };
    const [first, ...rest] = result.error.issues.flatMap((issue) => issueProblems(issue, part)).slice(0, PROBLEMS_MAX);
    return first === undefined ? { error: result.error } : { error: new ApiRefusal(400, [first, ...rest]) };
  };
};

/**
 * Whether a schema cannot say anything of what came, told without asking it: nearly no request has a query, or one of the headers that change it. Only where
 * the schema takes an empty part for what it is.
 */
function nothingToCheck(schema: z.ZodType, httpPart: string | undefined): (received: unknown) => boolean {
  if (httpPart !== "querystring" && httpPart !== "headers") return () => false;
  const empty = schema.safeParse({});
  if (!empty.success || Object.keys(empty.data as object).length > 0) return () => false;
  if (httpPart === "querystring") return (received) => isEmpty(received as object);
  const names = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
  return (received) => names.every((name) => (received as Readonly<Record<string, unknown>>)[name] === undefined);
}

function isEmpty(part: object): boolean {
  for (const _ in part) return false;
  return true;
}

function issueProblems(issue: z.core.$ZodIssue, part: string): Problem[] {
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((key) => ({
      code: "request-unknown-key",
      at: pathText(part, [...issue.path, key]),
      message: "there is no such key",
      remedy: "check its spelling, or leave it out",
    }));
  const message = issueText(issue);
  const code = message === MISSING ? "request-missing-key" : "request-invalid";
  return [{ code, at: pathText(part, issue.path), message, remedy: "see /api/v1/openapi.json for what it may be" }];
}

/** `nics[0]`, `window.first`, `query.limit`: as the core names places, with the part of the request unless it is the body. */
function pathText(part: string, path: readonly PropertyKey[]): string {
  let text = part;
  for (const key of path) {
    if (typeof key === "number") text += `[${key}]`;
    else text += `${text === "" ? "" : "."}${String(key).slice(0, KEY_CHARACTERS_MAX)}`;
  }
  return text === "" ? "body" : text;
}
