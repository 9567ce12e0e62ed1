import { ipAddress, mergeReport, noteConnection, emptyTopology, reportOf, type RackView, type Topology } from "@berth/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { interfaceOf } from "../../fixtures/alloc/build.js";
import { NOW, rack } from "./api-fixture.js";
import { createCliFixture, type CliFixture } from "./cli-fixture.js";

const VIP = "192.168.50.50";
let fixture: CliFixture;
let topology: Topology;
let sequence = 0;

beforeEach(async () => {
  fixture = await createCliFixture();
  topology = emptyTopology();
  say("r1", 60_000, "192.168.50.11/24", "10.9.0.1/24", `${VIP}/32`);
  say("r2", 50_000, "192.168.50.12/24");
});
afterEach(() => fixture.close());

/** A rack's report, this many milliseconds ago. */
function say(name: string, agoMs: number, ...addresses: readonly string[]): void {
  const known = fixture.racks.filter((other) => other.name !== name);
  const view: RackView = { ...rack(name), interfaces: [interfaceOf("eth0", ...addresses)] };
  fixture.racks = [...known, view];
  sequence += 1;
  topology = mergeReport(topology, reportOf(view, sequence), NOW - agoMs).topology;
  fixture.topology = topology;
}

async function done(...args: readonly string[]): Promise<string> {
  const run = await fixture.berth(args);
  expect(run.code, run.stderr).toBe(0);
  return run.stdout;
}

async function json<T>(...args: string[]): Promise<T> {
  return JSON.parse(await done(...args, "--json")) as T;
}

const rows = (table: string): readonly string[] =>
  table
    .trimEnd()
    .split("\n")
    .map((line) => line.replace(/ {3,}/g, " | "));

describe("berth rack", () => {
  it("tells real addresses from virtual ones, how sure that is, why and since when", async () => {
    await done("subnet", "create", "192.168.50.0/24", "--domain", "rack.example", "--mode", "static");
    expect(rows(await done("rack", "list", "-o", "wide"))[1]).toContain(
      "connected | 192.168.50.11,10.9.0.1 | 192.168.50.50 | 192.168.50.0/24",
    );
    const shown = await done("rack", "show", "r1");
    expect(rows(shown)).toContain("eth0 | up | - | - | -");
    expect(rows(shown)).toContain(`${VIP}/32 | eth0 | vip | 0.90 | no | 1m | /32 beside 192.168.50.11/24 on eth0`);
    expect(rows(shown)).toContain(
      "192.168.50.11/24 | eth0 | real | 0.85 | yes | 1m | a static address with its network's prefix length",
    );
    expect(await json("rack", "show", "r1")).toMatchObject({
      subnets: [{ prefix: "192.168.50.0/24" }],
      links: [{ up: true }],
      stale: false,
    });
  });

  it("says stale when a rack is silent for long", async () => {
    fixture.topology = noteConnection(topology, { rack: "id-r2", connected: false }, NOW - 1).topology;
    fixture.topology = { ...fixture.topology, at: NOW + 61_000 };
    fixture.racks = fixture.racks.map((view) => (view.name === "r2" ? { ...view, connected: false } : view));
    expect(await done("rack", "list", "-o", "wide")).toMatch(/^r2 +default +stale/m);
  });
});

describe("berth network list", () => {
  it("shows what racks are on beside what is declared", async () => {
    await done("subnet", "create", "192.168.50.0/24", "--domain", "rack.example", "--mode", "static");
    await done("subnet", "create", "192.168.60.0/24", "--domain", "other.example", "--mode", "off");
    expect(rows(await done("network", "list", "-o", "wide"))).toEqual([
      "PREFIX | SITE | STATE | SUBNET | RACKS | SEGMENT | DISCREPANCIES",
      "10.9.0.0/24 | default | proposed | - | r1 10.9.0.1 | r1/eth0 | -",
      "192.168.50.0/24 | default | declared | 1 | r1 192.168.50.11; r2 192.168.50.12 | r1/eth0 | -",
      "192.168.60.0/24 | default | unseen | 2 | - | - | -",
    ]);
  });

  it("says what racks disagree on", async () => {
    say("r2", 1000, "192.168.50.12/25");
    const { items } = await json<{ items: { prefix: string; discrepancies: string[] }[] }>("network", "list");
    for (const prefix of ["192.168.50.0/24", "192.168.50.0/25"])
      expect(items.find((network) => network.prefix === prefix)?.discrepancies).toEqual([
        "one network with two prefix lengths, /24 and /25",
      ]);
  });

  it("comes page by page", async () => {
    const page = await fixture.api.inject({
      url: "/api/v1/networks?limit=1",
      headers: { authorization: "Bearer berth_read-for-tests" },
    });
    expect(page.json()).toMatchObject({ items: [{ prefix: "10.9.0.0/24" }] });
    const { next } = page.json<{ next: string }>();
    const rest = await fixture.api.inject({
      url: `/api/v1/networks?limit=1&after=${encodeURIComponent(next)}`,
      headers: { authorization: "Bearer berth_read-for-tests" },
    });
    expect(rest.json()).toMatchObject({ items: [{ prefix: "192.168.50.0/24" }], next: null });
  });
});

describe("berth vip", () => {
  it("lists who has each now", async () => {
    expect(rows(await done("vip", "list", "-o", "wide"))).toEqual([
      "ADDRESS | SITE | HOLDER | SINCE | MOVES | LAST-MOVE | SUBNET | OWNER | WHY",
      `${VIP} | default | r1/eth0 | 1m | 0 | - | - | - | /32 beside 192.168.50.11/24 on eth0`,
    ]);
    say("r1", 3000, "192.168.50.11/24");
    say("r2", 2000, "192.168.50.12/24", `${VIP}/32`);
    expect(await json("vip", "list")).toMatchObject({
      items: [{ address: VIP, holders: [{ rack: "r2", silent: false }], moves: 1, lastMove: { from: "r1", to: "r2" } }],
    });
  });

  it("tells moves newest first, of all or of one, however many pages they take", async () => {
    const move = (at: number, text: string) => ({
      site: "default",
      address: ipAddress(text),
      from: "r1",
      to: "r2",
      at: NOW + at,
    });
    const many = Array.from({ length: 2100 }, (_, i) => move(i, i % 2 === 0 ? VIP : "2001:db8::9"));
    const change = { racks: [], goneRacks: [], addresses: [], goneAddresses: [], seenAt: NOW };
    await fixture.store.topology.save({ ...change, moves: many });
    const all = await json<{ items: { at: string }[] }>("vip", "history");
    expect(all.items.map(({ at }) => Date.parse(at) - NOW)).toEqual(many.map((_, i) => 2099 - i));
    const one = await json<{ items: { address: string }[] }>("vip", "history", "2001:DB8::9");
    expect([one.items.length, new Set(one.items.map(({ address }) => address))]).toEqual([1050, new Set(["2001:db8::9"])]);
    const refused = await fixture.berth(["vip", "history", "not-an-address"]);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("address")]);
  });

  it("says so when there is none", async () => {
    fixture.topology = emptyTopology();
    expect((await fixture.berth(["vip", "list"])).stderr).toBe("no virtual addresses\n");
    expect((await fixture.berth(["vip", "history"])).stderr).toBe("no moves\n");
  });
});

it("berth problem list says since when", async () => {
  fixture.planProblems = [{ code: "odd", at: "here", message: "odd" }];
  const run = await fixture.berth(["problem", "list"]);
  expect([run.code, rows(run.stdout)[1]]).toEqual([1, "plan | odd | here | 1s"]);
  const { stdout } = await fixture.berth(["problem", "list", "-o", "wide"]);
  expect(rows(stdout)[1]).toBe("plan | odd | here | 1s | odd | -");
});
