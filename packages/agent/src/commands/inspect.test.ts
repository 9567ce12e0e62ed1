import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { systemCommands, systemFiles, type Commands } from "@berth/host";
import { Command } from "commander";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { registerInspect } from "./inspect.js";

const fixture = (name: string): string => fileURLToPath(new URL(`../../../../test/fixtures/interfaces/${name}`, import.meta.url));

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function run(argv: readonly string[], commands: Commands = systemCommands): Promise<Outcome> {
  const program = new Command();
  let [code, stdout, stderr] = [-1, "", ""];
  registerInspect(program, {
    commands,
    files: systemFiles,
    stdout: (text) => (stdout += text),
    stderr: (text) => (stderr += text),
    exitWith: (status) => (code = status),
  });
  await program.parseAsync(["inspect", ...argv], { from: "user" });
  return { code, stdout, stderr };
}

interface Inspection {
  readonly interfaces: readonly { readonly name: string; readonly addresses: readonly { readonly prefix_length: number }[] }[];
  readonly classify: Record<string, Record<string, { class: string; confidence: number; reasons: string[] }>>;
  readonly publish: readonly string[];
  readonly subnets: readonly string[];
  readonly subnet_of: Record<string, string | null>;
  readonly problems: readonly { readonly code: string }[];
}

const inspection = (outcome: Outcome): Inspection => JSON.parse(outcome.stdout) as Inspection;

describe("berth-agent inspect", () => {
  let folder = "";
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "berth-inspect-"));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  function file(name: string, content: string): string {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  }

  it("judges a file and prints the contract's JSON", async () => {
    const outcome = await run(["--address-file", fixture("128-smallest-covering-subnet.json"), "--json"]);
    expect(outcome.code).toBe(0);
    const seen = inspection(outcome);
    expect(Object.keys(seen)).toEqual(["interfaces", "classify", "publish", "subnets", "subnet_of", "problems"]);
    expect(seen.classify.eth0?.["192.168.7.9"]).toMatchObject({ class: "vip", confidence: 0.9 });
    expect(seen.subnet_of).toMatchObject({ "192.168.7.9": "192.168.7.0/24", "198.51.100.7": null });
    expect(seen.subnets).toEqual(["192.168.0.0/16", "192.168.7.0/24", "2001:db8::aaaa:0/112"]);
  });

  it("shows one verdict and both addresses where the kernel has one twice", async () => {
    const seen = inspection(await run(["--address-file", fixture("108-same-ip-24-and-32.json"), "-o", "json"]));
    expect(Object.keys(seen.classify.eth0 ?? {})).toEqual(["192.168.0.11"]);
    expect(seen.interfaces[1]?.addresses.map((address) => address.prefix_length)).toEqual([24, 32]);
  });

  it("exits 1 when it has something to say", async () => {
    const outcome = await run(["--address-file", fixture("105-two-32-only.json"), "--json"]);
    expect(outcome.code).toBe(1);
    expect(inspection(outcome).problems.map((problem) => problem.code)).toEqual(["ambiguous-real"]);
  });

  it.each([
    ["config.yaml", "state: /elsewhere\naddresses:\n  vips:\n    - 192.168.0.28\n"],
    ["config.json", '{"addresses":{"vips":["192.168.0.28"]}}'],
  ])("takes VIPs from %s", async (name, content) => {
    const outcome = await run([
      ...["--address-file", fixture("106-vip-same-24-secondary.json")],
      ...["--config", file(name, content), "--json"],
    ]);
    expect(inspection(outcome).publish).toEqual(["192.168.0.11"]);
  });

  it("refuses a wrong configuration with every path", async () => {
    const config = file("wrong.yaml", "addresses:\n  vips: [10.0.0.300]\n  real: [x]\n  vip: []\n");
    const outcome = await run(["--address-file", fixture("105-two-32-only.json"), "--config", config]);
    expect(outcome.code).toBe(2);
    expect(outcome.stderr).toContain("addresses.vips.0");
    expect(outcome.stderr).toContain("addresses.real.0");
    expect(outcome.stderr).toContain('"vip"');
    const broken = await run(["--address-file", fixture("105-two-32-only.json"), "--config", file("broken.yaml", "a: [")]);
    expect(broken).toMatchObject({ code: 2, stdout: "" });
  });

  it("exits 3 for a missing or foreign file", async () => {
    expect((await run(["--address-file", join(folder, "none")])).code).toBe(3);
    const foreign = await run(["--address-file", file("foreign", "hello\n")]);
    expect(foreign.code).toBe(3);
    expect(foreign.stderr).toContain("ip-output-unreadable");
  });

  it("says which address the default route takes, and knows networks from routes", async () => {
    const routes = file(
      "routes",
      "default via 10.128.0.1 dev ens4 proto dhcp src 10.128.0.2 metric 100\n10.128.0.0/20 dev ens4 scope link\n",
    );
    const seen = inspection(await run(["--address-file", fixture("103-gce-only-32.json"), "--route-file", routes, "--json"]));
    expect(seen.classify.ens4?.["10.128.0.2"]?.reasons).toContain("source address of the default route over ens4");
    expect(seen.subnet_of["10.128.0.2"]).toBe("10.128.0.0/20");
    expect(seen.subnets).toEqual([]);
  });

  it("prints a table for people, problems apart from it", async () => {
    const outcome = await run(["--address-file", fixture("105-two-32-only.json")]);
    expect(outcome.stdout).toContain("INTERFACE  ADDRESS");
    expect(outcome.stdout).toContain("published: 203.0.113.10");
    expect(outcome.stderr).toContain("[ambiguous-real]");
  });

  it("reads this host when no file is given", async () => {
    const outcome = await run(["--json"]);
    expect([0, 1]).toContain(outcome.code);
    expect(inspection(outcome).classify.lo?.["127.0.0.1"]?.class).toBe("local");
  });

  it("takes an empty scan for a failure", async () => {
    const empty: Commands = { run: () => Promise.resolve({ status: 0, signal: null, stdout: "[]\n", stderr: "" }) };
    expect(await run(["--json"], empty)).toMatchObject({ code: 3, stdout: "" });
  });
});
