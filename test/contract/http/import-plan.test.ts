import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { adoptDhcpdConf, type AdoptPlan } from "@berth/core";
import { ask, SUBNET } from "./api-fixture.js";
import { createCliFixture, type CliFixture, type CliRun } from "./cli-fixture.js";

let fixture: CliFixture;
beforeEach(async () => {
  fixture = await createCliFixture();
});
afterEach(() => fixture.close());

const folder = join(import.meta.dirname, "../../fixtures/adopt");

function planOf(name: string): AdoptPlan {
  return adoptDhcpdConf("dhcpd.conf", (file) => readFileSync(join(folder, name, file), "utf8"));
}

async function importPlan(plan: unknown, ...args: readonly string[]): Promise<CliRun> {
  const path = join(fixture.folder, "plan.json");
  await writeFile(path, JSON.stringify(plan));
  return fixture.berth(["import", "plan", ...args, path]);
}

const prefixes = (): string[] => fixture.ports.ledger.subnets().map(({ prefix }) => prefix);

describe("berth import plan", () => {
  it("declares the subnets and enrolls the machines of a dhcpd.conf in one commit, names what is lost, and finds it as before", async () => {
    const { revision } = fixture.ports.ledger;
    const plan = planOf("provisioning");
    const dry = await importPlan(plan, "--dry-run");
    expect(dry).toMatchObject({ code: 0, stderr: expect.stringContaining("2 machines would be imported: 2 new") as string });
    expect(prefixes()).toEqual([]);
    const done = await importPlan(plan);
    expect(done.code).toBe(0);
    for (const { at, why } of plan.withoutCounterpart) {
      expect(done.stderr).toContain(`no counterpart: ${at}: `);
      expect(done.stderr).toContain(why);
    }
    expect(done.stdout).toContain("10.20.0.0/22");
    expect(fixture.ports.ledger.revision).toBe(revision + 1);
    expect(prefixes()).toEqual(["10.20.0.0/22", "10.21.0.0/24"]);
    const [racks] = fixture.ports.ledger.subnets();
    expect(racks?.dhcp).toEqual({
      domainSearch: [],
      boot: { nextServer: "10.20.0.2", bios: "pxelinux.0", uefiX64: "uefi.efi", uefiArm64: "pxelinux.0" },
      failover: { mclt: 1800, split: 128 },
    });
    expect(racks).toMatchObject({ mode: "window", window: { first: "10.20.2.0", last: "10.20.3.250" }, leaseTime: 600 });
    const bond = fixture.ports.ledger.allocations().find(({ address }) => address === "10.21.0.11");
    expect(bond).toMatchObject({ name: "node1.racks.example.net", nics: ["00:00:5e:00:53:21", "00:00:5e:00:53:22"] });
    const again = await importPlan(plan, "-o", "json");
    expect(JSON.parse(again.stdout)).toMatchObject({
      created: 0,
      unchanged: 2,
      subnets: [{ created: false }, { created: false }],
    });
    expect(fixture.ports.ledger.revision).toBe(revision + 1);
  });

  it("imports nothing while one row is refused, and names each by its place in the dhcpd.conf", async () => {
    await ask(fixture, "POST", "/subnets", { ...SUBNET, prefix: "10.21.0.0/24", mode: "static", gateway: null });
    const plan = planOf("provisioning");
    const clash = { ...plan.machines[0], nics: ["00:00:5e:00:53:77"], at: "hosts.conf:9", address: "10.20.2.5" };
    const run = await importPlan({ ...plan, machines: [...plan.machines, clash] });
    expect(run.code).toBe(1);
    expect(run.stderr).toContain("dhcpd.conf:22 prefix: 10.21.0.0/24 is declared already");
    expect(run.stderr).toContain("hosts.conf:9 address: 10.20.2.5 lies in the dynamic window");
    expect(run.stderr).toContain("nothing was imported");
    expect(prefixes()).toEqual(["10.21.0.0/24"]);
  });

  it("asks for a domain where the file has none, and takes no plan with something unreadable in it", async () => {
    const plan = planOf("office");
    const subnets = plan.subnets.map((subnet) => ({ ...subnet, domain: null }));
    const run = await importPlan({ ...plan, subnets }, "--only-addressed");
    expect(run.stderr).toContain("domain-missing");
    expect(prefixes()).toEqual([]);
    const broken = { ...plan, unreadable: [{ at: "dhcpd.conf:9", text: "", why: "a quote is not closed in its line" }] };
    expect((await importPlan(broken, "--only-addressed")).stderr).toContain("dhcpd.conf:9: a quote is not closed in its line");
    expect(prefixes()).toEqual([]);
    const named = await importPlan({ ...plan, subnets }, "--only-addressed", "--domain", "office.example.net", "--site", "hq");
    expect(named).toMatchObject({ code: 0 });
    expect(fixture.ports.ledger.subnets().map(({ domain, site }) => `${site} ${domain}`)).toEqual(["hq office.example.net"]);
  });

  it("says what is no plan", async () => {
    for (const thing of ["{", [], { format: "berth-adopt-1" }, { ...planOf("office"), machines: "all" }])
      expect(await importPlan(thing)).toMatchObject({ code: 1, stderr: expect.stringContaining("plan-invalid") as string });
  });
});
