import { fc, test } from "@fast-check/vitest";
import { describe, expect } from "vitest";
import { csvRecords } from "./csv-records.js";
import { readCsvMachines } from "./read-csv.js";
import { readDhcpdConf } from "./read-dhcpd-conf.js";
import { readMaasExport } from "./read-maas.js";
import { readNetboxExport } from "./read-netbox.js";

const options = { file: "f", domains: ["rack1.example"] };

/** Text of pieces that a reader acts upon, so that most of it gets somewhere. */
const textOf = (pieces: readonly string[]) =>
  fc.array(fc.oneof(fc.constantFrom(...pieces), fc.string({ maxLength: 4 })), { maxLength: 60 }).map((parts) => parts.join(""));
const csvText = textOf([
  '"',
  '""',
  ",",
  ";",
  "\n",
  "\r\n",
  "\r",
  "\ufeff",
  "nic,name,address\n",
  "02:00:5e:00:53:01",
  "192.168.50.9",
  "#",
  "\t",
]);
const confText = textOf([
  '"',
  "\\",
  "\\x41",
  "\\101",
  "{",
  "}",
  ";",
  "#",
  "\n",
  "host x {",
  "hardware ethernet 02:00:5e:00:53:01;",
  "fixed-address 192.168.50.9;",
  "include",
  "group {",
  "\0",
]);

/** As RFC 4180 writes them. */
const csvOf = (rows: readonly (readonly string[])[], end: string): string =>
  rows.map((cells) => cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(",") + end).join("");

describe("readers of foreign files", () => {
  test.prop([csvText])("a CSV of any kind is read to its end, and every row is a row or a refusal with a place", (text) => {
    const { refusals, rows } = readCsvMachines(text, options);
    for (const { at } of [...rows, ...refusals]) expect(at).toMatch(/^f(:\d+)?$/);
    for (const { nics } of rows) expect(nics.length).toBeGreaterThan(0);
  });

  test.prop([confText])("a dhcpd.conf of any kind is read to its end", (text) => {
    const { refusals, rows } = readDhcpdConf(text, { ...options, given: [] });
    for (const { at } of [...rows, ...refusals]) expect(at).toMatch(/^f:\d+$/);
  });

  test.prop([fc.json()])("JSON of any kind is read or refused", (text) => {
    readMaasExport(text, options);
    readNetboxExport([{ file: "f", text }], options);
  });

  test.prop([fc.array(fc.array(fc.string(), { minLength: 2, maxLength: 5 }), { maxLength: 8 }), fc.constantFrom("\n", "\r\n")])(
    "quoted cells come back as they were, with the lines on which their records begin",
    (rows, end) => {
      const records = [...csvRecords(csvOf(rows, end), ",")];
      expect(records.map(({ cells }) => cells)).toEqual(rows);
      const lines = rows.map((_, index) => csvOf(rows.slice(0, index), end).split("\n").length);
      expect(records.map(({ line }) => line)).toEqual(lines);
    },
  );

  test.prop([fc.string({ unit: "binary-ascii", maxLength: 20 }).filter((text) => !/[\n\0]/.test(text))])(
    "a quoted string of a dhcpd.conf comes back whatever is in it",
    (name) => {
      const quoted = name.replace(/[\\"]/g, (character) => `\\${character}`);
      const conf = `host h { hardware ethernet 02:00:5e:00:53:01; option host-name "${quoted}"; }`;
      const { refusals, rows } = readDhcpdConf(conf, { ...options, given: [] });
      if (name.includes(".")) return;
      expect(refusals).toEqual([]);
      expect(rows.map((row) => row.name)).toEqual([name.toLowerCase()]);
    },
  );

  test("deep nesting, an endless line and a token without end cost no more than their length", () => {
    const deep = readDhcpdConf("group {".repeat(100_000), { ...options, given: [] });
    expect(deep.refusals.map(({ code }) => code)).toEqual(["conf-too-deep"]);
    const words = readDhcpdConf("word ".repeat(1_000_000), { ...options, given: [] });
    expect(words.refusals.map(({ code }) => code)).toEqual(["conf-unfinished"]);
    expect(readDhcpdConf("x".repeat(10_000_000), { ...options, given: [] }).refusals).toHaveLength(1);
    expect(readDhcpdConf(`"${"\\".repeat(5_000_000)}`, { ...options, given: [] }).refusals.length).toBeGreaterThan(0);
    expect(readCsvMachines(`nic\n"${"x".repeat(10_000_000)}`, options).refusals.map(({ code }) => code)).toEqual([
      "csv-malformed",
    ]);
    expect(readCsvMachines(`nic\n${",".repeat(10_000_000)}`, options).refusals.map(({ code }) => code)).toEqual([
      "csv-malformed",
    ]);
  });
});
