import { fc, test } from "@fast-check/vitest";
import { describe, expect, it } from "vitest";
import { block, listOption, plain, printedForm, renderStatements } from "./statement.js";

describe("statements of dhcpd.conf", () => {
  it("indents blocks and ends statements", () => {
    expect(renderStatements([block(["subnet", "192.0.2.0"], [plain("authoritative"), block(["pool"], [])])])).toBe(
      "subnet 192.0.2.0 {\n  authoritative;\n  pool {\n  }\n}\n",
    );
    expect(renderStatements([])).toBe("");
  });

  it("quotes each member of a list, and leaves out a list without members", () => {
    const search = ["a.test", "b.test"].map((text) => ({ text }));
    expect(renderStatements(listOption("domain-search", search))).toBe('option domain-search "a.test", "b.test";\n');
    expect(renderStatements([plain("option", "domain-name", { text: "a.test" })])).toBe('option domain-name "a.test";\n');
    expect(listOption("domain-name-servers", [])).toEqual([]);
  });

  it.each([
    ['a"b', '"a\\042b"'],
    ["tail\\", '"tail\\134"'],
    ["line\nbreak", '"line\\012break"'],
    ["é", '"\\303\\251"'],
    ["\ud800", '"\\357\\277\\275"'],
  ])("escapes %j", (value, quoted) => {
    expect(renderStatements([plain("x", { text: value })])).toBe(`x ${quoted};\n`);
  });

  test.prop([fc.string({ unit: "binary" })])("no text leaves its quotes", (value) => {
    expect(renderStatements([plain("x", { text: value })])).toMatch(/^x "(?:[^"\\\n]|\\[0-7]{3})*";\n$/);
  });

  it.each(["a b", "a;b", 'a"', "", "a\nb", "{"])("takes %j for no bare word", (word) => {
    expect(() => renderStatements([plain("x", word)])).toThrow("not a bare word");
  });

  it("prints a form around its open places", () => {
    const pieces = printedForm(block(["host", { open: "word" }], [plain("option", "host-name", { open: "text" })]));
    expect(pieces.map((piece) => new TextDecoder().decode(piece))).toEqual(["host ", ' {\n  option host-name "', '";\n}\n']);
    expect(printedForm(plain("authoritative")).map((piece) => new TextDecoder().decode(piece))).toEqual(["authoritative;\n"]);
  });
});
