import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { leasesContract } from "../contract.js";
import { createLeaseReader } from "./lease-reader.js";

const FOLDER = fileURLToPath(new URL("../../../../../test/fixtures/leases/samples/", import.meta.url));
/** Within the hour in which the samples were recorded: some leases are in use, some have lapsed. */
const NOW = Date.parse("2026-11-30T11:47:15Z");

const samples = readdirSync(FOLDER).filter((name) => name.endsWith(".leases"));

describe("files that dhcpd wrote", () => {
  it("are all there", () => {
    expect(samples.length).toBe(14);
  });

  it.each(samples)("%s", (name) => {
    const reader = createLeaseReader();
    reader.push(readFileSync(`${FOLDER}${name}`));
    reader.finish(true);
    const got = `${JSON.stringify(leasesContract(reader, NOW), null, 1)}\n`;
    const golden = `${FOLDER}${name.replace(".leases", ".expected.json")}`;
    if (process.env.UPDATE_GOLDEN === "1") writeFileSync(golden, got);
    expect(JSON.parse(got)).toEqual(JSON.parse(readFileSync(golden, "utf8")));
    expect(reader.skippedDeclarations).toBe(0);
    expect(reader.diagnostics()).toEqual([]);
  });
});
