import { expect, it } from "vitest";
import { isPrintable, printable, printableDocument } from "./printable.js";

/** What a terminal acts upon, or hides: escape, the one-octet forms of its sequences, DEL, direction marks, a lone surrogate. */
const HOSTILE = ["\u001b[2J", "\u009b31m", "\u007f", "\u202eevil", "\u200b", "\ufeff", "\u2028", "\ud800", "\r"];

it.each(HOSTILE)("makes an escape of %j that JSON reads back", (text) => {
  expect(isPrintable(text)).toBe(false);
  expect(isPrintable(printable(text))).toBe(true);
  expect(JSON.parse(printableDocument(JSON.stringify({ text })))).toEqual({ text });
});

it("leaves what people write, and the document's own lines", () => {
  expect(printable("caf\u00e9 \u00fc \u4e2d")).toBe("caf\u00e9 \u00fc \u4e2d");
  expect(printableDocument("a\nb\n")).toBe("a\nb\n");
  expect(printable("a\nb")).toBe("a\\u000ab");
});
