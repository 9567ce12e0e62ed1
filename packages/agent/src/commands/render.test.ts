import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { systemCommands, systemFiles } from "@berth/host";
import { Command } from "commander";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { registerRender } from "./render.js";

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const golden = (name: string): string => fileURLToPath(new URL(`../../../../test/golden/${name}/`, import.meta.url));

describe("berth-agent render", () => {
  let folder = "";
  let out = "";
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "berth-render-"));
    out = join(folder, "out");
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  async function render(desired: string, ...more: string[]): Promise<Outcome> {
    const program = new Command();
    let [code, stdout, stderr] = [-1, "", ""];
    registerRender(program, {
      commands: systemCommands,
      files: systemFiles,
      stdout: (text) => (stdout += text),
      stderr: (text) => (stderr += text),
      exitWith: (status) => (code = status),
    });
    await program.parseAsync(["render", "--desired", desired, "--out", out, ...more], { from: "user" });
    return { code, stdout, stderr };
  }

  function file(name: string, content: unknown): string {
    const path = join(folder, name);
    writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
    return path;
  }

  it("writes what the rack would run and says where dhcpd would listen", async () => {
    const outcome = await render(`${golden("static")}desired.json`, "--link", "eth0=192.168.50.1");
    expect([outcome.code, outcome.stderr]).toEqual([0, ""]);
    expect(outcome.stdout).toContain("dhcpd would listen on eth0\n");
    expect(readFileSync(join(out, "dhcpd.conf"), "utf8")).toBe(readFileSync(`${golden("static")}dhcpd.conf`, "utf8"));
    expect(readFileSync(join(out, "named.conf"), "utf8")).toContain(`include "${out}/rndc.key";`);
    expect(readdirSync(join(out, "zones")).sort()).toEqual(readdirSync(`${golden("static")}zones`).sort());
    expect(statSync(join(out, "rndc.key")).mode & 0o777).toBe(0o600);
    expect(outcome.stdout).toContain(join(out, "zones", "rack.example.test.zone"));
  });

  it("keeps the key of an earlier run, and the bytes of everything", async () => {
    const links = ["--link", "eth0=192.168.50.1"];
    await render(`${golden("static")}desired.json`, ...links);
    const before = [readFileSync(join(out, "rndc.key")), readFileSync(join(out, "named.conf"))];
    await render(`${golden("static")}desired.json`, ...links);
    expect([readFileSync(join(out, "rndc.key")), readFileSync(join(out, "named.conf"))]).toEqual(before);
  });

  it("takes the file in which the agent keeps its desired state", async () => {
    const state: unknown = JSON.parse(readFileSync(`${golden("static")}desired.json`, "utf8"));
    expect((await render(file("desired.json", { digest: "x", state }), "--link", "eth0=192.168.50.1")).code).toBe(0);
  });

  it("finds the links in a file of addresses, passing over a VIP", async () => {
    const addr = [
      {
        ifname: "eth3",
        flags: ["BROADCAST", "UP", "LOWER_UP"],
        address: "02:00:5e:00:00:09",
        addr_info: [
          { family: "inet", local: "192.168.50.28", prefixlen: 32, scope: "global", label: "eth3:vip" },
          { family: "inet", local: "192.168.50.1", prefixlen: 24, broadcast: "192.168.50.255", scope: "global", label: "eth3" },
        ],
      },
    ];
    const outcome = await render(
      `${golden("window-with-holes")}desired.json`,
      "--address-file",
      file("addr.json", addr),
      "--json",
    );
    expect(outcome.code).toBe(0);
    expect(JSON.parse(outcome.stdout)).toMatchObject({ interfaces: ["eth3"], problems: [] });
    expect(readFileSync(join(out, "dhcpd.conf"), "utf8")).toContain("option dhcp-server-identifier 192.168.50.1;");
  });

  it("lists warnings, writes the rest and ends with 1", async () => {
    const outcome = await render(`${golden("ipv6-names")}desired.json`, "--link", "eth0=192.168.50.1");
    expect(outcome.code).toBe(1);
    expect(outcome.stderr).toContain("[subnet-without-link]");
    expect(existsSync(join(out, "dhcpd.conf"))).toBe(true);
  });

  it("writes nothing when anything is refused", async () => {
    const outcome = await render(`${golden("refused")}desired.json`, "--link", "eth0=192.168.50.1", "-o", "json");
    expect(outcome.code).toBe(1);
    expect(existsSync(out)).toBe(false);
    expect(outcome.stdout).toContain("window-inverted");
  });

  it.each([
    ["not JSON", "{", "desired-malformed"],
    ["an unknown key", { format: 1, colour: "red" }, "desired-invalid"],
    ["nothing", "", "desired-malformed"],
  ])("reports a desired state that is %s", async (_what, content, code) => {
    const outcome = await render(file("bad.json", content));
    expect([outcome.code, existsSync(out)]).toEqual([1, false]);
    expect(outcome.stderr).toContain(`[${code}]`);
  });

  it.each([["eth0"], ["eth0=no"], ["=192.168.50.1"], ["eth0=10.99.0.1"]])("ends with 2 for --link %s", async (link) => {
    const outcome = await render(`${golden("static")}desired.json`, "--link", link);
    expect(outcome.code).toBe(2);
    expect(outcome.stderr).toMatch(/^--link: .*\n$/);
  });

  it("ends with 3 when a file is missing or the folder cannot be made", async () => {
    expect((await render(join(folder, "none.json"))).code).toBe(3);
    expect((await render(`${golden("static")}desired.json`, "--address-file", join(folder, "none"))).code).toBe(3);
    writeFileSync(out, "a file where the folder should be");
    const outcome = await render(`${golden("static")}desired.json`, "--link", "eth0=192.168.50.1");
    expect([outcome.code, outcome.stderr.includes("[directory-uncreatable]")]).toEqual([3, true]);
  });
});
