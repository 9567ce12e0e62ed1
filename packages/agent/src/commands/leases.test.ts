import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Command } from "commander";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { registerLeases, type LeasesPorts } from "./leases.js";

const fixture = (name: string): string => fileURLToPath(new URL(`../../../../test/fixtures/leases/${name}`, import.meta.url));

interface Printed {
  readonly leases: Record<string, Record<string, unknown>>;
  readonly leases6: Record<string, Record<string, unknown>>;
  readonly hosts: Record<string, unknown>;
  readonly failover: Record<string, unknown>;
  readonly pending_tail: boolean;
  readonly diagnostics: readonly { readonly code: string }[];
}

function run(...argv: readonly string[]) {
  return runPiped("", ...argv);
}

/** In pieces of three octets, as slowly as a pipe may bring them. */
async function* pieces(text: string): AsyncIterable<Uint8Array> {
  const bytes = Buffer.from(text, "latin1");
  for (let at = 0; at < bytes.length; at += 3) yield await Promise.resolve(bytes.subarray(at, at + 3));
}

async function runPiped(piped: string, ...argv: readonly string[]) {
  const program = new Command().exitOverride().configureOutput({ writeErr: () => undefined });
  let [code, stdout, stderr] = [-1, "", ""];
  const followed: unknown[] = [];
  const ports: LeasesPorts = {
    clock: { now: () => Date.parse("2026-01-01T00:00:00Z") },
    stdin: () => pieces(piped),
    stdout: (text) => (stdout += text),
    stderr: (text) => (stderr += text),
    exitWith: (status) => (code = status),
  };
  registerLeases(program, ports, (options) => Promise.resolve(void followed.push(options)));
  await program.parseAsync(["leases", ...argv], { from: "user" });
  return { code, stdout, stderr, followed, json: () => JSON.parse(stdout) as Printed };
}

describe("berth-agent leases", () => {
  let folder = "";
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "berth-leases-"));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it("prints the contract's JSON, also with -o json", async () => {
    const { code, json, stdout } = await run(fixture("cases/037-failover-states.leases"), "--json");
    expect(code).toBe(0);
    expect(Object.keys(json())).toEqual(["leases", "leases6", "hosts", "failover", "pending_tail", "diagnostics"]);
    expect(json().failover).toEqual({ fo1: { my: "communications-interrupted", partner: "normal" } });
    expect(json().leases["192.0.2.12"]).toMatchObject({ state: "expired", in_use: false, allocatable: false });
    expect((await run(fixture("cases/037-failover-states.leases"), "-o", "json")).stdout).toBe(stdout);
  });

  it("judges as of --now", async () => {
    const { json } = await run(fixture("samples/01-grant-renew-release.leases"), "--json", "--now", "2026-11-30T11:40:30Z");
    expect(json().leases["192.168.50.100"]).toMatchObject({ state: "free", ends: "2026-11-30T11:40:39Z" });
  });

  it.each(["yesterday", "2026-02-30", "2026-02-29T12:00:00Z", "2026-13-01", "2026-01-00", "2026-01-01T25:00:00Z"])(
    "refuses --now %s",
    async (now) => {
      const { code, stderr } = await run(fixture("samples/01-grant-renew-release.leases"), "--now", now);
      expect(code).toBe(2);
      expect(stderr).toContain(`--now "${now}" is no time`);
    },
  );

  it("takes an unclosed last block only with --final", async () => {
    const file = fixture("cases/084-truncated-inside-iaaddr.leases");
    expect((await run(file, "--json")).json()).toMatchObject({ pending_tail: true });
    expect((await run(file, "--json", "--final")).json()).toMatchObject({ pending_tail: false });
    const torn = join(folder, "torn.leases");
    writeFileSync(torn, "lease 192.0.2.7 {\n  binding state active;\n  ends never;\n  hardware ethernet 00:0");
    expect((await run(torn, "--json")).json().leases).toEqual({});
    expect((await run(torn, "--json", "--final")).json().leases["192.0.2.7"]).toMatchObject({ in_use: true, mac: null });
  });

  it("goes on with --follow, which has no other time and no end of the file", async () => {
    expect(await run("x.leases", "--follow", "-o", "json")).toMatchObject({
      code: 0,
      followed: [{ file: "x.leases", json: true }],
    });
    expect(await run("x.leases", "--follow")).toMatchObject({ followed: [{ json: false }] });
    await expect(run("x.leases", "--follow", "--final")).rejects.toThrow(/--final/);
    await expect(run("x.leases", "--follow", "--now", "2026-01-01")).rejects.toThrow(/--now/);
  });

  it("knows a file of Kea's by its content, and reads what its clean-up keeps beside it", async () => {
    const file = join(folder, "leases4.csv");
    const header = "address,hwaddr,client_id,valid_lifetime,expire,subnet_id,fqdn_fwd,fqdn_rev,hostname,state,user_context\n";
    const line = (host: number, expire: number): string =>
      `192.0.2.${host},02:53:00:00:00:0${host},,600,${expire},1,0,0,node-${host},0,\n`;
    writeFileSync(`${file}.2`, header + line(1, 4_000_000_000) + line(2, 4_000_000_000));
    writeFileSync(file, header + line(2, 1_700_000_000));
    const { code, json, stdout } = await run(file, "--json");
    expect(code).toBe(0);
    expect(json().leases).toMatchObject({
      "192.0.2.1": { state: "active", in_use: true, mac: "02:53:00:00:00:01", dns_label: "node-1" },
      "192.0.2.2": { state: "active", in_use: false, ends: "2023-11-14T22:13:20Z" },
    });
    expect(stdout).toContain('"diagnostics":[]');
  });

  it.each([
    ["missing", null],
    ["empty", ""],
    ["begun", "address,hw"],
  ])("reads the rest of Kea's files while the newest is %s, as between two steps of a clean-up", async (name, content) => {
    const file = join(folder, `${name}.csv`);
    const header = "address,hwaddr,client_id,valid_lifetime,expire,subnet_id,fqdn_fwd,fqdn_rev,hostname,state,user_context\n";
    const line = (host: number): string => `192.0.2.${host},02:53:00:00:00:0${host},,600,4000000000,1,0,0,,0,\n`;
    writeFileSync(`${file}.2`, header + line(1));
    writeFileSync(`${file}.1`, header + line(2));
    if (content !== null) writeFileSync(file, content);
    const { code, json } = await run(file, "--json");
    expect(code).toBe(0);
    expect(Object.keys(json().leases)).toEqual(["192.0.2.1", "192.0.2.2"]);
    expect(json().diagnostics).toEqual([]);
  });

  it("takes a missing file for an empty one and says so", async () => {
    const { code, json } = await run(join(folder, "none"), "--json");
    expect(code).toBe(0);
    expect(json()).toMatchObject({ leases: {}, leases6: {}, diagnostics: [{ code: "file-missing" }] });
  });

  it("exits 3 for what is no file", async () => {
    const { code, stdout, stderr } = await run(folder);
    expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
    expect(stderr).toBe(`error: ${folder} is a folder [file-unreadable]\n  remedy: name the file in it\n`);
  });

  it("prints a table for people with hostile names escaped", async () => {
    const file = join(folder, "hostile.leases");
    writeFileSync(
      file,
      'lease 192.0.2.8 {\n  ends never;\n  binding state active;\n  client-hostname "\\033[2Jx\\\\y\\303\\251";\n}\n',
    );
    const { code, stdout } = await run(file);
    expect(code).toBe(0);
    expect(stdout).toContain("ADDRESS");
    expect(stdout).toContain("\\u{1b}[2Jx\\u{5c}y\\u{e9}");
    expect(stdout).not.toContain("\u001b");
  });

  it("lists by address, in columns that hold every address", async () => {
    const block = (ip: string): string => `lease ${ip} {\n  ends never;\n  binding state active;\n}\n`;
    const v4 = await runPiped(["192.0.2.100", "192.0.2.20", "10.0.0.9", "192.0.2.3"].map(block).join(""), "-");
    expect(firstColumn(v4.stdout)).toEqual(["10.0.0.9", "192.0.2.3", "192.0.2.20", "192.0.2.100"]);
    const entry = (type: string, iaid: number, key: string): string =>
      `ia-${type} "\\000\\000\\000\\00${iaid}${"d".repeat(300)}" {\n  ${type === "na" ? "iaaddr" : "iaprefix"} ${key} {\n    binding state active;\n    ends never;\n  }\n}\n`;
    const wide = "2001:db8:1111:2222:3333:4444:5555:6666";
    const v6 = await runPiped(entry("na", 1, wide) + entry("na", 2, "2001:db8::2") + entry("pd", 1, "2001:db8:1::/56"), "-");
    expect(firstColumn(v6.stdout)).toEqual(["2001:db8::2", "2001:db8:1::/56", wide]);
    const places = v6.stdout
      .split("\n")
      .slice(0, 4)
      .map((line) => line.search(/ (active|STATE)/));
    expect(new Set(places)).toEqual(new Set([wide.length + 1]));
    expect(Math.max(...v6.stdout.split("\n").map((line) => line.length))).toBeLessThan(180);
  });

  it("reads what is piped in, of dhcpd or Kea, but cannot follow that", async () => {
    const kea = "address,hwaddr,client_id,valid_lifetime,expire,subnet_id,fqdn_fwd,fqdn_rev,hostname,state,user_context\n";
    const { json } = await runPiped(`${kea}192.0.2.1,02:53:00:00:00:01,,600,4000000000,1,0,0,node-1,0,\n`, "-", "--json");
    expect(json().leases).toMatchObject({ "192.0.2.1": { in_use: true, dns_label: "node-1" } });
    expect((await runPiped("lease 192.0.2.7 { ends never; }\n", "-", "--json")).json().leases).toHaveProperty(["192.0.2.7"]);
    expect(await runPiped("", "-", "--follow")).toMatchObject({ code: 2, followed: [] });
  });

  it("says why a table is empty", async () => {
    expect(await runPiped("", "-")).toMatchObject({ code: 0, stdout: "", stderr: "-: empty\n" });
    expect((await runPiped("# nothing yet\n", "-")).stderr).toBe("-: no lease in 14 octets\n");
    expect((await run(join(folder, "none"))).stderr).toBe(
      `${join(folder, "none")} does not exist: read as empty [file-missing]\n`,
    );
    expect(await run("")).toMatchObject({ code: 2, stderr: "error: the name of the leases file is empty\n" });
  });

  it("tells damage on standard error, with file and line", async () => {
    const { stderr, code } = await run(fixture("cases/034-mac-invalid-hex.leases"));
    expect(code).toBe(0);
    expect(stderr).toMatch(/034-mac-invalid-hex\.leases:6: .*\[hardware-malformed\]/);
  });
});

function firstColumn(table: string): readonly string[] {
  return table
    .trimEnd()
    .split("\n")
    .slice(1)
    .map((line) => line.split(" ", 1)[0] ?? "");
}
