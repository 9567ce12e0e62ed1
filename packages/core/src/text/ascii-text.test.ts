import { fc, test } from "@fast-check/vitest";
import { expect, it } from "vitest";
import { asciiClass, AsciiText } from "./ascii-text.js";

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

const DIGITS = asciiClass(/^\d$/);

it("adds what is of a class, whole or not at all", () => {
  const text = new AsciiText();
  text.add("a");
  expect(["12", "1x", "\u0131", "", "\u00e91"].map((piece) => text.addOnly(piece, DIGITS))).toEqual([
    true,
    false,
    false,
    true,
    false,
  ]);
  expect(text.addOnly("34.5", DIGITS, 2)).toBe(true);
  expect(["0:1:2", "0:x", "0;1"].map((piece) => text.addWithout(piece, ":".charCodeAt(0), DIGITS))).toEqual([true, false, false]);
  expect(text.toString()).toBe("a1234012");
});

it("forgets what came after a size", () => {
  const text = new AsciiText();
  text.addOctets(Uint8Array.of(65, 66));
  const { size } = text;
  text.add("x".repeat(5_000));
  text.cutTo(size);
  text.add("C");
  expect(text.toString()).toBe("ABC");
});

test.prop([fc.integer({ min: 0, max: 5_000 }), fc.nat({ max: 20_000 })])(
  "gives octets of its own length, whatever room it had",
  (length, room) => {
    const text = new AsciiText(room);
    text.add("x".repeat(length));
    expect(text.toOctets()).toEqual(new Uint8Array(length).fill("x".charCodeAt(0)));
  },
);
