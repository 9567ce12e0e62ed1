import { expect, test } from "vitest";
import { z } from "zod";
import { serializeAnswers } from "./serialize-answer.js";

const schema = z.object({ name: z.string(), age: z.number().optional() });

function serializer(checked: boolean): (answer: unknown) => string {
  return serializeAnswers(checked)({ schema, method: "GET", url: "/things", httpStatus: "200" });
}

test("an answer is written as it is", () => {
  for (const checked of [false, true]) expect(serializer(checked)({ name: "a", age: 3 })).toBe('{"name":"a","age":3}');
  expect(serializer(true)({ name: "a", age: undefined })).toBe('{"name":"a"}');
});

test("one that is checked must be what its schema says, and no more", () => {
  expect(() => serializer(true)({ name: 1 })).toThrow("GET /things answers otherwise than its schema says");
  expect(() => serializer(true)({ name: "a", secret: "b" })).toThrow("answers members that its schema has not");
});
