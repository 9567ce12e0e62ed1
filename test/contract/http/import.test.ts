import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ask, SUBNET } from "./api-fixture.js";
import { createCliFixture, type CliFixture, type CliRun } from "./cli-fixture.js";

let fixture: CliFixture;
beforeEach(async () => {
  fixture = await createCliFixture();
  await ask(fixture, "POST", "/subnets", { ...SUBNET, mode: "static" });
});
afterEach(() => fixture.close());

const nic = (number: number): string =>
  `02:00:5e:01:${(number >> 8).toString(16).padStart(2, "0")}:${(number & 255).toString(16).padStart(2, "0")}`;

async function berth(args: readonly string[], files: Readonly<Record<string, string>> = {}): Promise<CliRun> {
  const paths: string[] = [];
  for (const [name, text] of Object.entries(files)) {
    paths.push(join(fixture.folder, name));
    await writeFile(join(fixture.folder, name), text);
  }
  return fixture.berth([...args, ...paths]);
}

const addresses = (): string[] =>
  fixture.ports.ledger
    .allocations()
    .map(({ address }) => address)
    .sort();

describe("POST /machines/import", () => {
  it("takes all machines in one commit, and the same again changes nothing", async () => {
    const { revision } = fixture.ports.ledger;
    const machines = Array.from({ length: 100 }, (_, index) => ({ nics: [nic(index)], subnet: "1" }));
    const first = await ask(fixture, "POST", "/machines/import", { machines });
    expect(first).toMatchObject({ status: 200, body: { created: 100, unchanged: 0, dryRun: false } });
    expect(fixture.ports.ledger.revision).toBe(revision + 1);
    expect(new Set(addresses()).size).toBe(100);
    const again = await ask(fixture, "POST", "/machines/import", { machines });
    expect(again).toMatchObject({ status: 200, body: { created: 0, unchanged: 100 } });
    const key = (body: unknown) =>
      (body as { machines: { machineId: string; address: string }[] }).machines.map(
        ({ machineId, address }) => `${machineId} ${address}`,
      );
    expect(key(again.body)).toEqual(key(first.body));
    expect(fixture.ports.ledger.revision).toBe(revision + 1);
  });

  it("takes none while one is refused, and names every one that is", async () => {
    const before = fixture.ports.ledger.revision;
    const refusal = await ask(fixture, "POST", "/machines/import", {
      machines: [
        { nics: [nic(1)], address: "192.168.50.11", name: "web1" },
        { nics: [nic(2)], address: "192.168.50.11" },
        { nics: [nic(3)], address: "192.168.50.1" },
        { nics: [nic(4)], address: "192.168.50.12", name: "web1" },
        { nics: [nic(5)], address: "192.168.50.13" },
        { nics: [nic(6)], address: "10.9.9.9" },
      ],
    });
    expect(refusal.status).toBe(409);
    const { problems } = refusal.body as { problems: { code: string; at: string }[] };
    expect(problems.map(({ at, code }) => `${at} ${code}`)).toEqual([
      "machines[1].address address-taken",
      "machines[2].address address-is-gateway",
      "machines[3].name name-taken",
      "machines[5].address address-outside",
    ]);
    expect(addresses()).toEqual([]);
    expect(fixture.ports.ledger.machines()).toEqual([]);
    expect(fixture.ports.ledger.revision).toBe(before);
    // What was tried left no trace: the first address is still free.
    expect(
      await ask(fixture, "POST", "/machines/enroll", { nics: [nic(9)], address: "192.168.50.11", name: "web1" }),
    ).toMatchObject({ status: 201 });
  });

  it("decides a dry run and changes nothing", async () => {
    const before = fixture.ports.ledger.revision;
    const machines = [{ nics: [nic(1)], subnet: "1" }];
    const answer = await ask(fixture, "POST", "/machines/import?dry_run=true", { machines });
    expect(answer).toMatchObject({
      status: 200,
      body: { created: 1, dryRun: true, machines: [{ address: "192.168.50.2", created: true }] },
    });
    expect(fixture.ports.ledger.revision).toBe(before);
    expect(addresses()).toEqual([]);
  });

  it("refuses an exhausting import whole", async () => {
    const machines = Array.from({ length: 254 }, (_, index) => ({ nics: [nic(index)], subnet: "1" }));
    const refusal = await ask(fixture, "POST", "/machines/import", { machines });
    expect(refusal).toMatchObject({ status: 409, body: { code: "subnet-exhausted", at: "machines[253].subnet 1" } });
    expect(addresses()).toEqual([]);
  });
});

describe("berth import", () => {
  it("imports a CSV, shows every machine and says the same again is as before", async () => {
    const csv = `nic,name,address\r\n${nic(1)},web1,192.168.50.11\r\n"${nic(2)} ${nic(3)}",WEB2.rack1.example,192.168.50.12\r\n`;
    const dry = await berth(["import", "csv", "--dry-run"], { "machines.csv": csv });
    expect(dry).toMatchObject({ code: 0, stderr: "2 machines would be imported: 2 new, 0 as before\n" });
    expect(addresses()).toEqual([]);
    const done = await berth(["import", "csv"], { "machines.csv": csv });
    expect(done).toMatchObject({ code: 0, stderr: "2 machines imported: 2 new, 0 as before\n" });
    expect(done.stdout).toMatch(
      /^192\.168\.50\.12 +web2\.rack1\.example +02:00:5e:01:00:02,02:00:5e:01:00:03 +192\.168\.50\.0\/24 +new$/m,
    );
    expect(addresses()).toEqual(["192.168.50.11", "192.168.50.12"]);
    const again = await berth(["import", "csv", "-o", "json"], { "machines.csv": csv });
    expect(JSON.parse(again.stdout)).toMatchObject({ created: 0, unchanged: 2 });
    expect(again.stderr).toBe("");
  });

  it("reports what the reader and what the coordinator refuse together, by line, and imports nothing", async () => {
    const csv = `nic,name,address\n${nic(1)},web1,192.168.50.11\n${nic(2)},web2,192.168.50.1\nnonsense,web3,192.168.50.13\n`;
    const run = await berth(["import", "csv"], { "machines.csv": csv });
    const place = (line: number): string => `${join(fixture.folder, "machines.csv")}:${line}`;
    expect(run.code).toBe(1);
    expect(run.stdout).toBe("");
    expect(run.stderr).toContain("nothing was imported\n");
    expect(run.stderr).toContain(
      `error: ${place(4)}: 'nonsense' is not a hardware address of 6, 8 or 20 octets [nic-malformed]\n`,
    );
    expect(run.stderr).toContain(`error: ${place(3)} address: `);
    expect(run.stderr).not.toContain(place(2));
    expect(addresses()).toEqual([]);
  });

  it("imports a dhcpd.conf, refuses its includes by name until they are given", async () => {
    const main = `include "hosts.conf";\ngroup { host web1 { hardware ethernet ${nic(1)}; fixed-address 192.168.50.11; } }\nhost known { hardware ethernet ${nic(3)}; }\n`;
    const hosts = `host web2 { hardware ethernet ${nic(2)}; fixed-address 192.168.50.12; }\n`;
    const alone = await berth(["import", "dhcpd", "--only-addressed"], { "dhcpd.conf": main });
    expect(alone).toMatchObject({ code: 1, stderr: expect.stringContaining("'hosts.conf'") as string });
    const both = await berth(["import", "dhcpd", "--only-addressed"], { "dhcpd.conf": main, "hosts.conf": hosts });
    expect(both.stderr).toMatch(/left out: .*dhcpd\.conf:3: known has no address \[without-address\]/);
    expect(both.code).toBe(0);
    expect(addresses()).toEqual(["192.168.50.11", "192.168.50.12"]);
  });

  it("gives rows without an address one of the named subnet, and drops names when asked", async () => {
    const csv = `nic,name\n${nic(1)},not_a_label\n`;
    expect(await berth(["import", "csv", "--subnet", "1"], { "machines.csv": csv })).toMatchObject({ code: 1 });
    expect(await berth(["import", "csv", "--subnet", "1", "--no-names"], { "machines.csv": csv })).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("ip-192-168-50-2.rack1.example") as string,
    });
  });

  it("fails on files that are not there, empty, or of another kind", async () => {
    expect(await berth(["import", "csv", join(fixture.folder, "absent.csv")])).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("file-unreadable") as string,
    });
    expect(await berth(["import", "dhcpd"], { "empty.conf": "# nothing\n" })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("import-empty") as string,
    });
    expect(await berth(["import", "maas"], { "machines.json": "{" })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("json-malformed") as string,
    });
    expect(await berth(["import", "xml"], { "machines.xml": "" })).toMatchObject({ code: 2 });
  });

  it("takes a giant CSV, and one over the limit not at all", async () => {
    await ask(fixture, "POST", "/subnets", { prefix: "10.0.0.0/16", domain: "big.example", mode: "static" });
    const line = (index: number): string =>
      `02:00:5e:${Math.floor(index / 65_536)}:${((index >> 8) & 255).toString(16)}:${(index & 255).toString(16)},10.0.${(index >> 8) & 255}.${index & 255}\n`;
    const rows = (count: number): string =>
      `nic,address\n${Array.from({ length: count }, (_, index) => line(index + 1)).join("")}`;
    const tooMany = await berth(["import", "csv"], { "giant.csv": rows(60_000) });
    expect(tooMany).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("giant.csv:50002: more than 50000 rows") as string,
    });
    expect(addresses()).toEqual([]);
    expect(await berth(["import", "csv"], { "giant.csv": rows(20_000) })).toMatchObject({
      code: 0,
      stderr: "20000 machines imported: 20000 new, 0 as before\n",
    });
    expect(addresses().length).toBe(20_000);
  });
});
