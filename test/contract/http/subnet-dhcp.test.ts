import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createCliFixture, type CliFixture } from "./cli-fixture.js";

let fixture: CliFixture;
beforeEach(async () => {
  fixture = await createCliFixture();
  expect((await berth("create", "192.168.50.0/24", "--domain", "rack1.example", "--mode", "static")).code).toBe(0);
});
afterEach(() => fixture.close());

const berth = (...args: string[]) => fixture.berth(["subnet", ...args]);

async function settings(...args: string[]): Promise<unknown> {
  const run = await berth(...args, "--json");
  expect(run.code, run.stderr).toBe(0);
  return (JSON.parse(run.stdout) as { dhcp: unknown }).dhcp;
}

async function file(name: string, text: string): Promise<string> {
  const path = join(fixture.folder, name);
  await writeFile(path, text);
  return path;
}

it("sets what is named and leaves the rest, takes single settings away, and shows them", async () => {
  expect(await settings("set", "1", "--mtu", "9000", "--router", "192.168.50.1", "--router", "192.168.50.2")).toEqual({
    mtu: 9000,
    routers: ["192.168.50.1", "192.168.50.2"],
  });
  const boot = ["--boot", "bios=undionly.kpxe", "--boot", "http-arm64=http://{rack}/a.efi"];
  expect(await settings("set", "1", ...boot, "--search", "none", "--mtu", "none")).toEqual({
    boot: { bios: "undionly.kpxe", httpArm64: "http://{rack}/a.efi" },
    domainSearch: [],
    routers: ["192.168.50.1", "192.168.50.2"],
  });
  expect((await berth("show", "1")).stdout).toMatch(/^DHCP: +boot \{"bios":"undionly.kpxe".*routers \["192.168.50.1"/m);
  expect(await settings("set", "1", "--boot", "none", "--relayed-to", "10.0.0.1", "--failover")).toMatchObject({
    relay: { servers: ["10.0.0.1"] },
    failover: {},
  });
  expect(await settings("set", "1", "--relayed-to", "none", "--no-failover")).toEqual({
    domainSearch: [],
    routers: ["192.168.50.1", "192.168.50.2"],
  });
});

it("takes a snippet and settings from files", async () => {
  const snippet = await file("snippet.conf", "option www-server 192.168.50.7;\n");
  const other = await file("dhcp.json", JSON.stringify({ minLeaseTime: 60, options: { "time-offset": 3600 } }));
  expect(await settings("set", "1", "--snippet", snippet, "--dhcp", other)).toEqual({
    minLeaseTime: 60,
    options: { "time-offset": 3600 },
    snippet: "option www-server 192.168.50.7;\n",
  });
  expect((await berth("show", "1")).stdout).toMatch(/snippet of 1 line$/m);
});

it("refuses with the place in the operator's own file, and before anything is sent what is no file", async () => {
  const bad = await berth(
    "set",
    "1",
    "--snippet",
    await file("bad.conf", 'option www-server 192.168.50.7;\ninclude "/etc/shadow";\n'),
  );
  expect([bad.code, bad.stderr]).toEqual([1, expect.stringContaining("dhcp snippet line 2") as string]);
  expect(await berth("set", "1", "--dhcp", await file("no.json", "[1"))).toMatchObject({ code: 3 });
  expect(await berth("set", "1", "--snippet", join(fixture.folder, "missing"))).toMatchObject({ code: 3 });
  expect(await berth("set", "1", "--boot", "amiga=x")).toMatchObject({ code: 2 });
  const unknown = await berth(
    "set",
    "1",
    "--dhcp",
    await file("unknown.json", '{"options": {"domain-name-servers": ["192.168.50.9"]}}'),
  );
  expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining("domain-name-servers") as string]);
  expect(await settings("show", "1")).toBeNull();
});
