import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { Desk, leaseOf, MINUTE, nic, rackOf } from "../../../../test/fixtures/alloc/build.js";
import { ipAddress } from "../address/ip.js";
import { compileDhcpd } from "../dhcpd/compile.js";
import type { DesiredSubnet } from "../desired/schema.js";
import type { RackView } from "../topology/rack-view.js";
import { pairsIn, type Pairs } from "./pair-racks.js";
import { planRacks, type RegionPlan } from "./plan-racks.js";

const policy = { forwarders: [], mailbox: null, ntpUpstreams: [] };
const WINDOW = { first: ipAddress("192.168.50.100"), last: ipAddress("192.168.50.119") };

const ADDRESSES = new Map([
  ["id-r1", ipAddress("192.168.50.1")],
  ["id-r2", ipAddress("192.168.50.2")],
]);

function deskWith(racks: readonly RackView[]): Desk {
  const desk = new Desk();
  desk.declare({ prefix: "192.168.50.0/24", mode: "window", window: WINDOW, dhcp: { mtu: 9000, failover: { mclt: 60 } } });
  desk.racks = racks;
  return desk;
}

function plan(desk: Desk, pairs: Pairs = new Map()): RegionPlan {
  const { subnets, allocations, quarantines } = desk.state.content();
  return planRacks({ subnets, allocations, quarantines, racks: desk.racks, now: desk.now, policy }, new Map(), pairs);
}

function subnetOf(planned: RegionPlan, rack: string): DesiredSubnet | undefined {
  return planned.sites.flatMap(({ racks }) => racks).find((content) => content.rack === `id-${rack}`)?.subnets[0];
}

const codes = (planned: RegionPlan): string[] => planned.problems.map(({ code }) => code);

/** Silent for so long; the second rack joined later. */
function rack(name: string, address: string, silentMs = 0, leases: Parameters<typeof rackOf>[2] = []): RackView {
  const made = rackOf(name, [`${address}/24`], leases);
  return { ...made, joinedAt: name === "r1" ? 0 : 1, connected: silentMs === 0, lastSeenAt: (made.lastSeenAt ?? 0) - silentMs };
}

describe("a window that two racks share", () => {
  test("is whole on both, with a role and both addresses, and plain settings beside it", () => {
    const planned = plan(deskWith([rack("r2", "192.168.50.2"), rack("r1", "192.168.50.1"), rack("r3", "192.168.50.3")]));
    expect(codes(planned)).toEqual([]);
    expect(subnetOf(planned, "r1")).toMatchObject({
      mode: "window",
      window: WINDOW,
      dhcp: { mtu: 9000 },
      failover: { role: "primary", address: "192.168.50.1", partner: "192.168.50.2", port: 647, mclt: 60, split: 128 },
    });
    expect(subnetOf(planned, "r2")).toMatchObject({
      window: WINDOW,
      failover: { role: "secondary", address: "192.168.50.2", partner: "192.168.50.1" },
    });
    const third = subnetOf(planned, "r3");
    expect([third?.mode, third?.window, third?.failover]).toEqual(["static", null, undefined]);
  });

  test("has the same pools on both, whoever of them holds a lease", () => {
    const racks = [
      rack("r1", "192.168.50.1", 0, [leaseOf("192.168.50.105", nic(7))]),
      rack("r2", "192.168.50.2", 0, [leaseOf("192.168.50.110", nic(8))]),
    ];
    const planned = plan(deskWith(racks));
    const pools = ["r1", "r2"].map((name, place) => {
      const subnet = subnetOf(planned, name);
      if (subnet === undefined) throw new Error(`${name} has no subnet`);
      const links = [{ name: "eth0", subnetId: 1, address: ipAddress(`192.168.50.${place + 1}`) }];
      const config = compileDhcpd({ subnets: [subnet] }, { links });
      return config.ok ? config.value.sharedNetworks[0]?.subnets[0]?.pools : config.problems;
    });
    expect(pools[0]).toEqual([{ ranges: [WINDOW] }]);
    expect(pools[1]).toEqual(pools[0]);
  });

  test("is not made with a rack that is dead (case 200), nor with one rack alone", () => {
    const path = new URL("../../../../test/fixtures/dhcpd/200-failover-with-dead-peer.json", import.meta.url);
    const { given, expect: wanted } = JSON.parse(readFileSync(path, "utf8")) as {
      given: Record<"primary" | "secondary", { last_seen_s: number }>;
      expect: { rejected: boolean };
    };
    const desk = deskWith([
      rack("r1", "192.168.50.1", given.primary.last_seen_s * 1000),
      rack("r2", "192.168.50.2", given.secondary.last_seen_s * 1000),
    ]);
    const planned = plan(desk);
    expect(codes(planned).includes("failover-held-back")).toBe(wanted.rejected);
    expect(planned.problems.find(({ code }) => code === "failover-held-back")?.message).toContain("rack r1 does not speak");
    // Until then each has its own part.
    expect([subnetOf(planned, "r1")?.window?.last, subnetOf(planned, "r2")?.window?.first]).toEqual([
      "192.168.50.109",
      "192.168.50.110",
    ]);
    expect(subnetOf(planned, "r2")?.failover).toBeUndefined();
    const alone = plan(deskWith([rack("r1", "192.168.50.1")]));
    expect([codes(alone), subnetOf(alone, "r1")?.window]).toEqual([["failover-held-back"], WINDOW]);
  });

  test("stays as it is when a rack falls silent, or an older one joins", () => {
    const states = plan(deskWith([rack("r1", "192.168.50.1"), rack("r2", "192.168.50.2")])).sites.flatMap(({ racks }) => racks);
    const pairs = pairsIn(states);
    expect(pairs).toEqual(new Map([[1, { primary: "id-r1", secondary: "id-r2", addresses: ADDRESSES }]]));
    const later = deskWith([
      { ...rack("r0", "192.168.50.9"), joinedAt: -1 },
      rack("r1", "192.168.50.1", 24 * 60 * MINUTE),
      rack("r2", "192.168.50.2"),
    ]);
    const planned = plan(later, pairs);
    expect(codes(planned)).toEqual([]);
    expect(subnetOf(planned, "r2")?.failover?.role).toBe("secondary");
    expect(subnetOf(planned, "r0")?.mode).toBe("static");
  });

  test("stays when a rack loses its interface for a while, whatever its partner says, and ends when that rack is removed", () => {
    const states = plan(deskWith([rack("r1", "192.168.50.1"), rack("r2", "192.168.50.2")])).sites.flatMap(({ racks }) => racks);
    const away = rack("r1", "10.9.9.9");
    const without = plan(deskWith([away, rack("r2", "192.168.50.2", 24 * 60 * MINUTE)]), pairsIn(states));
    expect(codes(without)).toEqual(["failover-partner-away"]);
    for (const [name, before] of [
      ["r1", states[0]],
      ["r2", states[1]],
    ] as const) {
      const subnet = subnetOf(without, name);
      expect([subnet?.failover, subnet?.window]).toEqual([before?.subnets[0]?.failover, WINDOW]);
    }
    // From these states the pair is known as well, so the interface may stay away for long.
    const kept = pairsIn(without.sites.flatMap(({ racks }) => racks));
    expect(kept).toEqual(pairsIn(states));
    const back = plan(deskWith([rack("r1", "192.168.50.1"), rack("r2", "192.168.50.2")]), kept);
    expect([codes(back), subnetOf(back, "r1")]).toEqual([[], states[0]?.subnets[0]]);
    const removed = plan(deskWith([rack("r2", "192.168.50.2")]), kept);
    expect([codes(removed), subnetOf(removed, "r2")?.failover]).toEqual([["failover-held-back"], undefined]);
  });

  test("stays when both racks lose the network, until others serve it", () => {
    const states = plan(deskWith([rack("r1", "192.168.50.1"), rack("r2", "192.168.50.2")])).sites.flatMap(({ racks }) => racks);
    const away = [rack("r1", "10.9.9.1"), rack("r2", "10.9.9.2")];
    const gone = plan(deskWith(away), pairsIn(states));
    expect(codes(gone)).toEqual(["subnet-unserved", "failover-partner-away", "failover-partner-away"]);
    const kept = pairsIn(gone.sites.flatMap(({ racks }) => racks));
    expect(kept).toEqual(pairsIn(states));
    const others = plan(deskWith([...away, rack("r3", "192.168.50.3"), rack("r4", "192.168.50.4")]), kept);
    expect(["r1", "r2", "r3", "r4"].map((name) => subnetOf(others, name)?.failover?.role)).toEqual([
      undefined,
      undefined,
      "primary",
      "secondary",
    ]);
  });
});

test("two racks are a pair once between the same addresses: dhcpd would reject a second one, whatever its port", () => {
  const desk = new Desk();
  desk.racks = [rack("r1", "10.0.0.1"), rack("r2", "10.0.0.2")];
  const relay = { servers: [ipAddress("10.0.0.1"), ipAddress("10.0.0.2")] };
  for (const third of [70, 71])
    desk.declare({
      prefix: `10.${third}.0.0/24`,
      mode: "window",
      window: { first: ipAddress(`10.${third}.0.100`), last: ipAddress(`10.${third}.0.119`) },
      dhcp: { failover: { port: third }, relay },
    });
  const planned = plan(desk);
  expect(planned.problems.map(({ code, at }) => `${code} ${at}`)).toEqual(["failover-held-back subnet 2"]);
  const subnets = planned.sites.flatMap(({ racks }) => racks[0]?.subnets ?? []);
  expect(subnets.map(({ failover, window }) => [failover?.role, window?.last])).toEqual([
    ["primary", "10.70.0.119"],
    [undefined, "10.71.0.109"],
  ]);
  // The pair that exists stays when the other subnet comes first by number.
  const addresses = new Map([
    ["id-r1", ipAddress("10.0.0.1")],
    ["id-r2", ipAddress("10.0.0.2")],
  ]);
  const pairs = new Map([[2, { primary: "id-r1", secondary: "id-r2", addresses }]]);
  expect(plan(desk, pairs).problems.map(({ at }) => at)).toEqual(["subnet 1"]);
});

describe("a relayed network", () => {
  test("is served by the rack that has an address to which its relays forward", () => {
    const desk = new Desk();
    desk.racks = [rack("r1", "192.168.50.1"), rack("r2", "192.168.50.2")];
    desk.declare({ prefix: "10.70.0.0/24", dhcp: { relay: { servers: [ipAddress("10.9.9.9"), ipAddress("192.168.50.2")] } } });
    const planned = plan(desk);
    expect(codes(planned)).toEqual([]);
    expect(subnetOf(planned, "r1")).toBeUndefined();
    expect(subnetOf(planned, "r2")).toMatchObject({ prefix: "10.70.0.0/24", relay: { server: "192.168.50.2" } });
    expect(subnetOf(planned, "r2")?.dns).toContain("192.168.50.2");
  });
});
