import { expect, test } from "vitest";
import { z } from "zod";
import { issueText } from "./issue-text.js";

const kinds = z.discriminatedUnion("kind", [z.object({ kind: z.literal("a") }), z.object({ kind: z.literal("b") })]);

test.each<[string, z.ZodType, unknown, string]>([
  ["a missing key", z.object({ a: z.string() }), {}, "is missing"],
  ["another type", z.string(), 5, "must be a text, and is a number"],
  ["a list for an object", z.object({}), [], "must be an object, and is a list"],
  ["null", z.array(z.string()), null, "must be a list, and is null"],
  ["no number", z.coerce.number(), "x", "must be a number, and is no number"],
  ["a fraction", z.number().int(), 1.5, "must be a whole number, and is a number"],
  ["too little", z.number().min(60), 0, "must be at least 60"],
  ["too much", z.number().int().max(604_800), 999_999_999, "must be at most 604800"],
  ["an empty text", z.string().min(1), "", "must not be empty"],
  ["a long text", z.string().max(3), "abcd", "must have at most 3 characters"],
  ["a short list", z.array(z.number()).min(2), [1], "must have at least 2 items"],
  ["no choice", z.enum(["read", "admin"]), "root", "must be one of read, admin"],
  ["another constant", z.literal(1), 2, "must be 1"],
  ["an unknown kind", kinds, { kind: "c" }, "must be one of a, b"],
  ["none of several", z.union([z.string(), z.number()]), true, "is none of what it may be"],
  ["another form", z.string().regex(/^x$/), "y", "is not written as it must be"],
  ["a step", z.number().multipleOf(4), 5, "must be a multiple of 4"],
  ["an unknown key", z.strictObject({}), { b: 1 }, 'has keys that are not known: "b"'],
  ["words of the schema's own", z.string().refine(() => false, "not an IP address"), "y", "not an IP address"],
])("%s is told in plain words", (_, schema, value, said) => {
  expect(schema.safeParse(value).error?.issues.map(issueText)).toEqual([said]);
});
