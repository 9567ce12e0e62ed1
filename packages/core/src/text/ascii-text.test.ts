import { fc, test } from "@fast-check/vitest";
import { expect, it } from "vitest";
import { AsciiText } from "./ascii-text.js";

test.prop([fc.array(fc.string({ unit: "grapheme-ascii", maxLength: 40 }), { maxLength: 50 })])(
  "holds what was added, in order",
  (pieces) => {
    const text = new AsciiText();
    for (const piece of pieces) text.add(piece);
    expect(text.toString()).toBe(pieces.join(""));
  },
);

it("grows past every inner limit", () => {
  const text = new AsciiText();
  for (let line = 0; line < 20_000; line++) text.add(`line ${line}\n`);
  text.add("x".repeat(300_000));
  expect(text.toString()).toBe(Array.from({ length: 20_000 }, (_, line) => `line ${line}\n`).join("") + "x".repeat(300_000));
});
