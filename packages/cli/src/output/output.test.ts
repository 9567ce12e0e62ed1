import { printable } from "@berth/core";
import { describe, expect, it } from "vitest";
import { formatAge } from "./age.js";
import { printProblems } from "./print-failure.js";
import { formatTable } from "./table.js";

describe("formatTable", () => {
  it("aligns by characters, shows what is empty, and ends no line in blanks", () => {
    const columns = [
      { title: "A", cell: ([a]: readonly string[]) => a ?? "" },
      { title: "LONG", cell: ([, b]: readonly string[]) => b ?? "" },
    ];
    const text = formatTable(
      [
        ["grün", "x"],
        ["", "y"],
        ["z", ""],
      ],
      columns,
    );
    expect(text).toBe("A      LONG\ngrün   x\n-      y\nz      -\n");
  });

  it("puts sentences under their row, and what few look for nowhere; a wide table has all as columns", () => {
    const columns = [
      { title: "CODE", cell: ([code]: readonly string[]) => code ?? "" },
      { title: "MESSAGE", cell: ([, message]: readonly string[]) => message ?? "", below: "" },
      { title: "REMEDY", cell: ([, , remedy]: readonly string[]) => remedy ?? "", below: "remedy: " },
      { title: "ID", cell: () => "7", wide: true as const },
    ];
    const problems = [
      ["odd", "it is odd", "look"],
      ["even", "it is even", ""],
    ];
    expect(formatTable(problems, columns)).toBe("CODE\nodd\n    it is odd\n    remedy: look\neven\n    it is even\n");
    expect(formatTable(problems, columns, true)).toBe(
      "CODE   MESSAGE      REMEDY   ID\nodd    it is odd    look     7\neven   it is even   -        7\n",
    );
  });
});

describe("printable", () => {
  it.each([
    ["\u001b[2J", "\\u001b[2J"],
    ["a\nb\tc", "a\\u000ab\\u0009c"],
    ["\u009b31m", "\\u009b31m"],
    ["a\u202eb\u200b\ufeff", "a\\u202eb\\u200b\\ufeff"],
    ["\ud800", "\\ud800"],
    ["rack-1 grün 架", "rack-1 grün 架"],
  ])("%j becomes %j", (text, expected) => {
    expect(printable(text)).toBe(expected);
  });
});

describe("formatAge", () => {
  const now = Date.UTC(2026, 0, 10);
  it.each([
    [0, "0s"],
    [-5, "0s"],
    [59, "59s"],
    [60, "1m"],
    [250, "4m10s"],
    [3600, "1h"],
    [3_660, "1h1m"],
    [86_400 * 3 + 7200, "3d2h"],
    [86_400 * 400, "400d"],
  ])("%i s is %s", (seconds, expected) => {
    expect(formatAge(new Date(now - seconds * 1000).toISOString(), now)).toBe(expected);
  });

  it("is empty without a time, and passes on what is none", () => {
    expect(formatAge(null, now)).toBe("");
    expect(formatAge("soon", now)).toBe("soon");
  });
});

describe("printProblems", () => {
  const problems = [{ code: "x", at: "pl\u001bace", message: "bad", remedy: "mend" }];
  const print = (isTerminal: boolean, colour: boolean): string => {
    let text = "";
    printProblems({ isTerminal, write: (part) => (text += part) }, problems, colour);
    return text;
  };

  it("colours only on a terminal that wants it", () => {
    const plain = "error: pl\\u001bace: bad [x]\n  remedy: mend\n";
    expect(print(false, true)).toBe(plain);
    expect(print(true, false)).toBe(plain);
    expect(print(true, true)).toBe(`\u001b[31merror:\u001b[39m${plain.slice("error:".length)}`);
  });
});
