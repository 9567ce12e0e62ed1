import { fc, test } from "@fast-check/vitest";
import { describe, expect, it } from "vitest";
import { reviewSnippet } from "./snippet.js";

function found(snippet: string): string[] {
  return reviewSnippet(snippet, "subnet 192.0.2.0/24").map(
    ({ code, at }) => `${code} ${at.replace("subnet 192.0.2.0/24 snippet ", "")}`,
  );
}

describe("an operator's snippet", () => {
  it.each([
    "",
    "  \n# } only a comment {\n",
    'option www-server 192.0.2.7;\noption unknown-224 "} { ; # \\" is text";',
    'if option user-class = "x" {\n  filename "a";\n} elsif exists host-name {\n filename "b"; }\nelse { filename "c"; }',
    'option domain-name = concat("a", option domain-name);',
    "use-host-decl-names on;",
    'switch (option host-name) { case "a": filename "a"; break; }',
    ";;",
    'filename concat("range", option host-name);',
  ])("may say %j", (snippet) => {
    expect(found(snippet)).toEqual([]);
  });

  it.each([
    ["}", ["snippet-unbalanced line 1"]],
    ["option www-server 192.0.2.7;\n}\nsubnet 10.0.0.0 netmask 255.0.0.0 {", ["snippet-unbalanced line 2"]],
    ['if exists host-name {\n filename "a";', ["snippet-unbalanced line 1"]],
    ['filename "a\n";', ["snippet-unbalanced line 1"]],
    ['filename "a\\";', ["snippet-unbalanced line 1"]],
    ['filename "a"', ["snippet-unended line 1"]],
    ['filename "caf\u00e9";', ["snippet-characters line 1"]],
    ["option www-server 192.0.2.7;\r\n", ["snippet-characters line 1"]],
    ["# \u0000", ["snippet-characters line 1"]],
    ["\n\nRange 192.0.2.1 192.0.2.9;", ["snippet-forbidden line 3"]],
    ["pool { range 192.0.2.1; }", ["snippet-forbidden line 1", "snippet-forbidden line 1"]],
    ["host x { hardware ethernet 02:00:00:00:00:01; }", ["snippet-forbidden line 1", "snippet-forbidden line 1"]],
    ['include "/etc/shadow";', ["snippet-forbidden line 1"]],
    ['if exists host-name { execute("/bin/sh"); }', ["snippet-forbidden line 1"]],
    ['set x = "1"; on commit { set y = "1"; }', ["snippet-forbidden line 1"]],
    ["not authoritative;", ["snippet-forbidden line 1"]],
    ["max-lease-time 10;", ["snippet-forbidden line 1"]],
    ["option dhcp-server-identifier 192.0.2.9;", ["snippet-forbidden line 1"]],
    ["option dhcp.dhcp-server-identifier 192.0.2.9;", ["snippet-forbidden line 1"]],
    ["supersede option unknown-54 c0:00:02:09;", ["snippet-forbidden line 1"]],
    ["if exists host-name {\n option subnet-mask 255.0.0.0;\n}", ["snippet-forbidden line 2"]],
    ["option mine code 224 = text;", ["snippet-forbidden line 1"]],
    // dhcpd -t takes these.
    ["foo;", ["snippet-no-statement line 1"]],
    ["if exists host-name {\n filename;\n}", ["snippet-no-statement line 2"]],
  ])("may not say %j", (snippet, expected) => {
    expect(found(snippet)).toEqual(expected);
  });

  test.prop([fc.stringMatching(/^[a-z0-9 "#{};\\\n]{0,40}$/)])(
    "that passes leaves no block or string open, as a lexer of one state sees it",
    (snippet) => {
      if (found(snippet).length > 0) return;
      let depth = 0;
      let state: "plain" | "string" | "comment" = "plain";
      for (let at = 0; at < snippet.length; at++) {
        const c = snippet[at];
        if (state === "comment") state = c === "\n" ? "plain" : "comment";
        else if (state === "string") {
          if (c === "\\") at++;
          else if (c === '"') state = "plain";
        } else if (c === '"') state = "string";
        else if (c === "#") state = "comment";
        else if (c === "{") depth++;
        else if (c === "}") depth--;
        expect(depth).toBeGreaterThanOrEqual(0);
      }
      expect([depth, state === "string"]).toEqual([0, false]);
    },
  );
});
