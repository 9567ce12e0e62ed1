import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createCliFixture, type CliFixture } from "./cli-fixture.js";

let fixture: CliFixture;
beforeEach(async () => {
  fixture = await createCliFixture();
  await done("subnet", "create", "192.168.50.0/24", "--domain", "rack1.example", "--mode", "static");
  for (const number of [1, 2]) await done("machine", "enroll", nic(number), "--name", `lb${number}`);
});
afterEach(() => fixture.close());

const nic = (number: number): string => `02:00:00:00:00:0${number}`;

async function done(...args: string[]): Promise<string> {
  const run = await fixture.berth(args);
  expect(run.code, run.stderr).toBe(0);
  return run.stdout;
}

describe("berth vip", () => {
  it("creates, adds and removes owners, and lists owners beside holders", async () => {
    expect(await done("vip", "create", "lb1", "--name", "front", "--key", "front")).toMatch(
      /^VIP: +192\.168\.50\.3 in 192\.168\.50\.0\/24, created\nName: +front\.rack1\.example$/m,
    );
    expect(await done("vip", "add-owner", "front", "lb2")).toMatch(/^Owners: +m-\w+, m-\w+$/m);
    expect(await done("vip", "list")).toMatch(/^192\.168\.50\.3 +default +nobody .*front\.rack1\.example/m);
    expect(await done("allocation", "list", "--kind", "vip")).toMatch(/^192\.168\.50\.3 +front\.rack1\.example +vip /m);
    await done("vip", "remove-owner", "192.168.50.3", "lb1");
    expect(await done("vip", "remove-owner", "192.168.50.3", "lb2")).toMatch(/^VIP: .*freed$/m);
    expect(await fixture.berth(["vip", "add-owner", "front", "lb1"])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("vip-unknown") as string,
    });
  });
});

describe("berth allocation", () => {
  it("creates by key, in bulk or not at all, and releases", async () => {
    expect(await done("allocation", "create", "lb1", "--key", "pod", "--name", "pod")).toMatch(/^Address: +192\.168\.50\.3 in/m);
    expect(await done("allocation", "create", "lb1", "--key", "pod")).toMatch(/given before/);
    expect(await done("allocation", "create", "lb1", "--own")).toMatch(/^Address: +192\.168\.50\.1 .* machine, given before$/m);
    expect(await fixture.berth(["allocation", "create", "lb1", "--own", "--key", "x"])).toMatchObject({ code: 2 });
    const file = join(fixture.folder, "items.json");
    await writeFile(
      file,
      JSON.stringify({
        items: [
          { kind: "additional", machine: "lb1" },
          { kind: "vip", owners: ["nobody"] },
        ],
      }),
    );
    const refused = await fixture.berth(["allocation", "bulk", file]);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("items[1].machine") as string]);
    await writeFile(
      file,
      JSON.stringify({
        items: [
          { kind: "additional", machine: "lb1" },
          { kind: "vip", owners: ["lb2"] },
        ],
      }),
    );
    expect(await done("allocation", "bulk", file)).toBe(
      "192.168.50.4 ip-192-168-50-4.rack1.example\n192.168.50.5 ip-192-168-50-5.rack1.example\n",
    );
    await writeFile(file, "{");
    expect(await fixture.berth(["allocation", "bulk", file])).toMatchObject({ code: 2 });
    expect(await fixture.berth(["allocation", "bulk", `${file}.none`])).toMatchObject({ code: 3 });
    expect(await done("allocation", "release", "pod.rack1.example")).toBe("released 192.168.50.3, pod.rack1.example\n");
  });
});

describe("berth name and berth reservation", () => {
  it("create, list and remove", async () => {
    expect(await done("name", "create", "www.rack1.example", "CNAME", "lb1.rack1.example")).toMatch(
      /^www\.rack1\.example CNAME lb1\.rack1\.example, id n-/,
    );
    expect(await done("name", "list", "--records")).toMatch(/^www\.rack1\.example +CNAME +lb1\.rack1\.example +record /m);
    expect(await done("name", "list", "--contains", "lb2")).toMatch(/^lb2\.rack1\.example +A +192\.168\.50\.2 +a-/m);
    expect(await done("name", "remove", "www.rack1.example")).toBe("removed www.rack1.example CNAME lb1.rack1.example\n");
    expect(await fixture.berth(["name", "create", "x", "MX", "y"])).toMatchObject({ code: 2 });
    const made = await done("reservation", "create", "192.168.50.3", "192.168.50.9", "--exclude", "--note", "the old SAN");
    expect(made).toMatch(/^192\.168\.50\.3-192\.168\.50\.9 in 192\.168\.50\.0\/24, exclusion r-/);
    expect(await done("reservation", "list")).toMatch(/^192\.168\.50\.3-192\.168\.50\.9 +exclusion .* the old SAN /m);
    expect(await done("allocation", "create", "lb1")).toMatch(/192\.168\.50\.10 in/);
    expect(await done("reservation", "remove", "192.168.50.3")).toMatch(/^removed exclusion r-/);
  });
});

describe("berth machine and berth audit", () => {
  it("enlist, rename, add and remove NICs, each in the log", async () => {
    expect(await done("machine", "enlist", nic(3), "--name", "db")).toMatch(/^Machine: +db, enlisted$/m);
    expect(await done("machine", "rename", "lb1", "web")).toMatch(/^Address: .* web\.rack1\.example, machine$/m);
    expect(await done("machine", "add-nic", "web", nic(4))).toMatch(new RegExp(`^NICs: +${nic(1)}, ${nic(4)}$`, "m"));
    expect(await done("machine", "remove-nic", "web", nic(1))).toMatch(new RegExp(`^NICs: +${nic(4)}$`, "m"));
    expect(await done("machine", "rename", "web")).toMatch(/^Machine: +ip-192-168-50-1\.rack1\.example, enrolled$/m);
    const log = await done("audit", "list", "--limit", "2");
    expect(log.split("\n")).toHaveLength(4);
    expect(log).toMatch(/^8 +2026-\S+ +token admin +change-machine +m-/m);
    expect(await done("audit", "list", "--action", "enlist-machine")).toMatch(/ db$/m);
  });
});

it("--dry-run shows what would be and changes nothing", async () => {
  const { revision } = fixture.ports.ledger;
  for (const args of [
    ["subnet", "set", "1", "--lease-time", "10m"],
    ["subnet", "create", "10.0.0.0/24", "--domain", "b.example"],
    ["machine", "enroll", nic(5), "--name", "new"],
    ["machine", "enlist", nic(5)],
    ["machine", "rename", "lb1", "web"],
    ["machine", "release", "lb1"],
    ["allocation", "create", "lb1"],
    ["vip", "create", "lb1"],
    ["name", "create", "a.rack1.example", "A", "192.0.2.1"],
    ["reservation", "create", "192.168.50.9"],
  ]) {
    const run = await fixture.berth([...args, "--dry-run"]);
    expect([args, run.code, run.stderr]).toEqual([args, 0, "dry run: nothing is changed\n"]);
    expect(run.stdout).not.toBe("");
  }
  expect(fixture.ports.ledger.revision).toBe(revision);
  expect(await fixture.berth(["machine", "rename", "lb1", "lb2", "--dry-run"])).toMatchObject({ code: 1 });
});
