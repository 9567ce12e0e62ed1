import type { FastifySchemaCompiler } from "fastify";
import type { z } from "zod";
import { issueText, type Problem } from "@berth/core";
import { ApiRefusal } from "./api-refusal.js";

const PROBLEMS_MAX = 64;
const KEY_CHARACTERS_MAX = 80;
const MISSING = "is missing";

/** Checks a part of a request against its schema and reports every wrong key at once, each with its path. */
export const validateRequest: FastifySchemaCompiler<z.ZodType> = ({ schema, httpPart }) => {
  const part = httpPart === "body" || httpPart === undefined ? "" : httpPart === "querystring" ? "query" : httpPart;
  return (received) => {
    const result = schema.safeParse(received);
    if (result.success) return { value: result.data };
    const [first, ...rest] = result.error.issues.flatMap((issue) => issueProblems(issue, part)).slice(0, PROBLEMS_MAX);
    return first === undefined ? { error: result.error } : { error: new ApiRefusal(400, [first, ...rest]) };
  };
};

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
