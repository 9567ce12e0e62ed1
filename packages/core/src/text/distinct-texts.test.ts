import { fc, test } from "@fast-check/vitest";
import { expect, it } from "vitest";
import { areDistinct } from "./distinct-texts.js";

const itself = (text: string): string => text;

test.prop([fc.array(fc.string({ maxLength: 3, unit: fc.constantFrom("a", "b", "é", "\u{1f600}") }), { maxLength: 60 })])(
  "says what a set says",
  (texts) => {
    expect(areDistinct(texts, itself)).toBe(new Set(texts).size === texts.length);
  },
);

it("asks each item for its text", () => {
  const items = [{ name: "a" }, { name: "b" }, { name: "a" }];
  expect(areDistinct(items, ({ name }) => name)).toBe(false);
  expect(areDistinct(items.slice(1), ({ name }) => name)).toBe(true);
});

it("is right about many texts of one hash", () => {
  // With a factor of 31, "Aa" and "BB" count the same.
  const texts = Array.from({ length: 1 << 14 }, (_, n) =>
    Array.from({ length: 14 }, (_bit, place) => (((n >> place) & 1) === 0 ? "Aa" : "BB")).join(""),
  );
  expect(areDistinct(texts, itself)).toBe(true);
  expect(areDistinct([...texts, texts[77] ?? ""], itself)).toBe(false);
});
