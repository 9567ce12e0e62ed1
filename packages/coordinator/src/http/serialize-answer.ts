import { assert } from "@berth/core";
import type { FastifySerializerCompiler } from "fastify";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";

/**
 * Answers are written as they are, because the types of the routes hold them to their schemas. With `checked`, as in every test of the API, each
 * must also be in fact what its schema describes, with no member that the schema does not name; in service that would cost more than the writing, and could only turn
 * a change that is made into an error.
 */
export function serializeAnswers(checked: boolean): FastifySerializerCompiler<unknown> {
  return ({ schema, method, url }) =>
    (answer) => {
      const text = JSON.stringify(answer);
      if (checked) checkAnswer(schema, text, `${method} ${url}`);
      return text;
    };
}

function checkAnswer(schema: unknown, text: string, route: string): void {
  assert(schema instanceof z.ZodType, `${route} has an answer without a schema`);
  const answer: unknown = JSON.parse(text);
  const described = schema.safeEncode(answer);
  assert(described.success, `${route} answers otherwise than its schema says: ${described.error?.message}`);
  assert(isDeepStrictEqual(described.data, answer), `${route} answers members that its schema has not: ${text}`);
}
