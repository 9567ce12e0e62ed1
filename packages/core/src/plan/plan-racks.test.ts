import { describe, expect, test } from "vitest";
import { Desk, interfaceOf, leaseOf, MINUTE, nic, NOON, rackOf } from "../../../../test/fixtures/alloc/build.js";
import { ipAddress } from "../address/ip.js";
import { ipPrefix } from "../address/prefix.js";
import { compileDhcpd } from "../dhcpd/compile.js";
import type { DesiredSubnet } from "../desired/schema.js";
import { desiredStateSchema } from "../desired/schema.js";
import type { RackView } from "../topology/rack-view.js";
import { reportOf, topologyOf } from "../topology/from-rack-views.js";
import { mergeReport } from "../topology/merge.js";
import { planRacks, slicesIn, type RegionPlan } from "./plan-racks.js";

const policy = { forwarders: [], mailbox: null, ntpUpstreams: [] };

function plan(desk: Desk, racks: readonly RackView[] = desk.racks): RegionPlan {
  const { subnets, allocations, quarantines } = desk.state.content();
  return planRacks({ subnets, allocations, quarantines, racks, now: desk.now, policy }, new Map());
}

function subnetOn(desk: Desk, rack: string, id = 1): DesiredSubnet | undefined {
  const racks = plan(desk).sites.flatMap((site) => site.racks);
  return racks.find((content) => content.rack === `id-${rack}`)?.subnets.find((subnet) => subnet.id === id);
}

const WINDOW = { first: ipAddress("192.168.50.100"), last: ipAddress("192.168.50.109") };

describe("what a rack serves", () => {
  test("subnets in which it has a real address: not by a VIP, not of another site, not by a /32", () => {
    const desk = new Desk();
    desk.declare({ prefix: "192.168.50.0/24" });
    desk.declare({ prefix: "192.168.51.0/24" });
    desk.declare({ prefix: "192.168.52.0/24", site: "west", domain: "west.example" });
    desk.racks = [rackOf("r1", ["192.168.50.1/24", "192.168.51.7/32", "192.168.52.1/24"])];
    const { sites, problems } = plan(desk);
    expect(sites.flatMap(({ racks }) => racks.flatMap(({ subnets }) => subnets.map(({ id }) => id)))).toEqual([1]);
    expect(problems.map(({ code, at }) => `${code} ${at}`)).toEqual(["subnet-unserved subnet 2", "subnet-unserved subnet 3"]);
  });

  test("a cable that is pulled changes nothing; a rack that never reported gets no plan", () => {
    const desk = new Desk();
    desk.declare({ prefix: "192.168.50.0/24" });
    desk.declare({ prefix: "192.168.51.0/24" });
    const up = [interfaceOf("eth0", "192.168.50.1/24"), interfaceOf("eth1", "192.168.51.1/24")];
    const down = up.map((link) => (link.name === "eth1" ? { ...link, flags: ["NO-CARRIER", "UP"] } : link));
    const served = (interfaces: RackView["interfaces"]) =>
      plan(desk, [{ ...rackOf("r1", []), interfaces }]).sites.flatMap(({ racks }) => racks.map(({ subnets }) => subnets.length));
    expect([served(up), served(down), served([])]).toEqual([[2], [2], []]);
  });

  test("is a state that the agent's schema accepts, the same for the same input in any order", () => {
    const desk = new Desk();
    desk.declare({ prefix: "192.168.50.0/24", mode: "link-local" });
    desk.declare({
      prefix: "192.168.51.0/24",
      mode: "window",
      window: { first: ipAddress("192.168.51.9"), last: ipAddress("192.168.51.99") },
    });
    for (const number of [1, 2, 3])
      desk.enroll({ nics: [nic(number), nic(number + 10)], subnet: String(1 + (number % 2)), name: `n${number}` });
    desk.racks = [rackOf("r1", ["192.168.50.1/24", "192.168.51.1/24"]), rackOf("r2", ["192.168.51.2/24"])];
    const content = desk.state.content();
    const forward = plan(desk);
    const reversed = planRacks(
      {
        subnets: content.subnets.toReversed(),
        allocations: content.allocations.toReversed(),
        quarantines: [],
        racks: desk.racks.toReversed(),
        now: desk.now,
        policy,
      },
      new Map(),
    );
    expect(reversed).toEqual(forward);
    for (const site of forward.sites) {
      for (const rack of site.racks) {
        const zones = site.zones.map((zone) => ({ ...zone, serial: 1 }));
        expect(desiredStateSchema.safeParse({ ...rack, generation: 1, zones }).error).toBeUndefined();
      }
    }
  });
});

describe("hosts", () => {
  test("one a NIC, with the name the machine has", () => {
    const desk = new Desk();
    desk.declare({ prefix: "192.168.50.0/24" });
    desk.enroll({ nics: [nic(1), nic(2)], subnet: "1", name: "db1", address: ipAddress("192.168.50.60") });
    desk.racks = [rackOf("r1", ["192.168.50.1/24"])];
    const host = { address: "192.168.50.60", name: "db1.rack.example" };
    expect(subnetOn(desk, "r1")?.hosts).toEqual([
      { hardwareAddress: nic(1), ...host },
      { hardwareAddress: nic(2), ...host },
    ]);
  });

  test("not while the last dynamic holder may still use the address, and the plan says when that ends", () => {
    const desk = new Desk();
    desk.declare({ prefix: "192.168.50.0/24" });
    desk.enroll({ nics: [nic(1)], subnet: "1", address: ipAddress("192.168.50.60") });
    desk.racks = [rackOf("r1", ["192.168.50.1/24"], [leaseOf("192.168.50.60", nic(9))])];
    expect(subnetOn(desk, "r1")?.hosts).toEqual([]);
    const end = NOON + 72 * MINUTE;
    expect(plan(desk).changesAt).toBe(end);
    desk.now = end;
    expect([subnetOn(desk, "r1")?.hosts.length, plan(desk).changesAt]).toEqual([1, null]);
    // The rack's clock is an hour behind, so its dhcpd gives the lease an hour more than it reads; one that is ahead gives none up early.
    desk.racks = desk.racks.map((rack) => ({ ...rack, clockAheadMs: -60 * MINUTE }));
    expect([subnetOn(desk, "r1")?.hosts.length, plan(desk).changesAt]).toEqual([0, end + 60 * MINUTE]);
    desk.now = end - 1;
    desk.racks = desk.racks.map((rack) => ({ ...rack, clockAheadMs: 60 * MINUTE }));
    expect([subnetOn(desk, "r1")?.hosts.length, plan(desk).changesAt]).toEqual([0, end]);
    desk.now = NOON;
    desk.racks = [rackOf("r1", ["192.168.50.1/24"], [leaseOf("192.168.50.60", nic(1))])];
    expect(subnetOn(desk, "r1")?.hosts).toHaveLength(1);
  });

  test("none where dhcpd is not ours", () => {
    const desk = new Desk();
    desk.declare({ prefix: "192.168.50.0/24", mode: "observe" });
    desk.enroll({ nics: [nic(1)], subnet: "1" });
    desk.racks = [rackOf("r1", ["192.168.50.254/24"])];
    expect(subnetOn(desk, "r1")?.hosts).toEqual([]);
  });
});

describe("the window", () => {
  test("leaves out what is static, reserved, on a rack, resting", () => {
    const desk = new Desk();
    desk.declare({ prefix: "192.168.50.0/24" });
    for (const number of [1, 2]) desk.enroll({ nics: [nic(number)], subnet: "1", address: ipAddress(`192.168.50.10${number}`) });
    desk.release(nic(1));
    desk.release(nic(2));
    desk.now += 31 * MINUTE;
    desk.enroll({ nics: [nic(2)], subnet: "1" });
    desk.release(nic(2));
    const { subnets, quarantines } = desk.state.content();
    const [subnet] = subnets;
    const reserved = [{ first: ipAddress("192.168.50.90"), last: ipAddress("192.168.50.100") }];
    const windowed = subnet === undefined ? [] : [{ ...subnet, mode: "window" as const, window: WINDOW, reserved }];
    const racks = [rackOf("r1", ["192.168.50.1/24", "192.168.50.105/32"])];
    const planned = planRacks({ subnets: windowed, allocations: [], quarantines, racks, now: desk.now, policy }, new Map());
    expect(planned.sites[0]?.racks[0]?.subnets[0]).toMatchObject({
      window: WINDOW,
      excluded: ["192.168.50.100", "192.168.50.102", "192.168.50.105"],
    });
    expect(planned.changesAt).toBe(desk.now + 30 * MINUTE);
  });

  test("carries a reserved block as one range, with what lies beside it; what it leaves can be sent and rendered", () => {
    const desk = new Desk();
    desk.declare({
      prefix: "10.0.0.0/8",
      mode: "window",
      window: { first: ipAddress("10.1.0.0"), last: ipAddress("10.99.255.255") },
      reserved: [
        { first: ipAddress("10.0.0.5"), last: ipAddress("10.50.0.9") },
        { first: ipAddress("10.50.0.9"), last: ipAddress("10.60.0.0") },
        { first: ipAddress("10.70.0.0"), last: ipAddress("10.70.0.0") },
      ],
    });
    desk.racks = [rackOf("r1", ["10.60.0.1/8"]), { ...rackOf("r2", ["10.200.0.1/8", "10.61.0.7/32"]), site: "other" }];
    expect(subnetOn(desk, "r1")).toMatchObject({
      excluded: ["10.70.0.0"],
      excludedRanges: [{ first: "10.1.0.0", last: "10.60.0.1" }],
    });
    const subnet = subnetOn(desk, "r1");
    const links = { links: [{ name: "eth0", subnetId: 1, address: ipAddress("10.60.0.1") }] };
    const config = subnet === undefined ? null : compileDhcpd({ subnets: [subnet] }, links);
    const pools =
      config?.ok === true ? config.value.sharedNetworks.flatMap(({ subnets }) => subnets.flatMap((one) => one.pools)) : [];
    expect(pools[0]?.ranges[0]?.first).toBe("10.60.0.2");
    expect(pools.flatMap(({ ranges }) => ranges).filter(({ last }) => last === "10.69.255.255")).toHaveLength(1);
  });

  test("is shared out between the racks that serve it, and what the other rack leased in my part is left out", () => {
    const desk = new Desk();
    desk.declare({ prefix: "192.168.50.0/24", mode: "window", window: WINDOW });
    const leases = [leaseOf("192.168.50.101", nic(1)), leaseOf("192.168.50.107", nic(2))];
    desk.racks = [rackOf("r1", ["192.168.50.1/24"], leases), { ...rackOf("r2", ["192.168.50.2/24"]), joinedAt: 5 }];
    expect(subnetOn(desk, "r1")).toMatchObject({ window: { first: "192.168.50.100", last: "192.168.50.104" }, excluded: [] });
    expect(subnetOn(desk, "r2")).toMatchObject({
      window: { first: "192.168.50.105", last: "192.168.50.109" },
      excluded: ["192.168.50.107"],
    });
  });
});

describe("servers", () => {
  test("the racks on the subnet by their real addresses, then others; never a VIP; or exactly what is pinned", () => {
    const desk = new Desk();
    desk.declare({ prefix: "192.168.50.0/24" });
    desk.declare({ prefix: "192.168.51.0/24", dns: [ipAddress("192.168.51.28")], ntp: [ipAddress("192.0.2.1")] });
    desk.racks = [
      rackOf("r1", ["192.168.50.12/24", "192.168.50.28/32", "192.168.51.12/24"]),
      rackOf("r2", ["192.168.50.11/24", "192.168.50.29/32"]),
      rackOf("r3", ["10.0.0.3/24"]),
    ];
    expect(subnetOn(desk, "r1")).toMatchObject({ dns: ["192.168.50.12", "192.168.50.11", "10.0.0.3"], ntp: [] });
    expect(subnetOn(desk, "r1", 2)).toMatchObject({ dns: ["192.168.51.28"], ntp: ["192.0.2.1"] });
  });

  test("not a rack whose named fails, unless all do: then all, with a problem", () => {
    const desk = new Desk();
    desk.declare({ prefix: "192.168.50.0/24" });
    const facts = { desired: null, written: null, running: null, generation: null, problems: [] };
    const failing = {
      ...rackOf("r1", ["192.168.50.11/24"]),
      daemons: [{ name: "named" as const, state: "failing" as const, ...facts }],
    };
    desk.racks = [failing, rackOf("r2", ["192.168.50.12/24"])];
    expect([subnetOn(desk, "r1")?.dns, plan(desk).problems]).toEqual([["192.168.50.12"], []]);
    desk.racks = [failing];
    expect(subnetOn(desk, "r1")?.dns).toEqual(["192.168.50.11"]);
    expect(plan(desk).problems.map(({ code }) => code)).toEqual(["dns-not-answering"]);
  });
});

describe("enlistment slices", () => {
  const pool = (desk: Desk): string[] =>
    plan(desk).sites.flatMap(({ racks }) =>
      racks.flatMap(({ subnets }) => subnets.map(({ enlistment }) => enlistment?.slice ?? "none")),
    );

  test("each link of a rack has its own, and so has each rack on a link; the first slice of 169.254/16 is never used", () => {
    const desk = new Desk();
    for (const third of [50, 51]) desk.declare({ prefix: `192.168.${third}.0/24`, mode: "link-local" });
    desk.racks = [rackOf("r1", ["192.168.50.1/24", "192.168.51.1/24"]), { ...rackOf("r2", ["192.168.50.2/24"]), joinedAt: 1 }];
    expect(pool(desk)).toEqual(["169.254.16.0/20", "169.254.32.0/20", "169.254.32.0/20"]);
  });

  test("a link keeps the slice it has, whatever comes or goes before it", () => {
    const desk = new Desk();
    for (const third of [50, 51]) desk.declare({ prefix: `192.168.${third}.0/24`, mode: "link-local" });
    desk.racks = [rackOf("r1", ["192.168.50.1/24", "192.168.51.1/24"])];
    const { subnets } = desk.state.content();
    const has = new Map([["id-r1", new Map([[2, ipPrefix("169.254.160.0/20")]])]]);
    const next = planRacks({ subnets, allocations: [], quarantines: [], racks: desk.racks, now: NOON, policy }, has);
    const slices = new Map([
      [1, "169.254.16.0/20"],
      [2, "169.254.160.0/20"],
    ]);
    expect(slicesIn(next.sites.flatMap((site) => site.racks))).toEqual(new Map([["id-r1", slices]]));
  });

  test("a rack with more links than slices serves the rest without enlistment, and says so", () => {
    const desk = new Desk();
    const addresses = Array.from({ length: 16 }, (_, index) => `10.0.${index}.1/24`);
    for (const address of addresses) desk.declare({ prefix: address.replace(".1/", ".0/"), mode: "link-local" });
    desk.racks = [rackOf("r1", addresses)];
    expect(new Set(pool(desk)).size).toBe(16);
    expect(subnetOn(desk, "r1", 16)).toMatchObject({ mode: "static", enlistment: null });
    expect(plan(desk).problems.map(({ code, at }) => `${code} ${at}`)).toEqual(["enlistment-slices-exhausted subnet 16"]);
  });
});

test("racks are told a VIP that carries the subnet's own mask, once it was seen to move, and it stays told", () => {
  const desk = new Desk();
  desk.declare({ prefix: "192.168.50.0/24" });
  const [one, two] = [rackOf("r1", ["192.168.50.1/24", "192.168.50.9/24"]), rackOf("r2", ["192.168.50.2/24"])];
  let topology = topologyOf([one, two], NOON);
  const planned = (racks: readonly RackView[]): unknown[] => {
    const { subnets, allocations, quarantines } = desk.state.content();
    const sources = { subnets, allocations, quarantines, racks, now: topology.at, policy, topology };
    return planRacks(sources, new Map()).sites.flatMap((site) => site.racks.map(({ vips }) => vips ?? null));
  };
  expect(planned([one, two])).toEqual([null, null]);
  const [left, taken] = [rackOf("r1", ["192.168.50.1/24"]), rackOf("r2", ["192.168.50.2/24", "192.168.50.9/24"])];
  topology = mergeReport(topology, reportOf(left, 2), NOON + 1000).topology;
  topology = mergeReport(topology, reportOf(taken, 3), NOON + 2000).topology;
  expect(planned([left, taken])).toEqual([["192.168.50.9"], ["192.168.50.9"]]);
  topology = mergeReport(topology, reportOf(rackOf("r2", ["192.168.50.2/24"]), 4), NOON + 3000).topology;
  expect(planned([left, rackOf("r2", ["192.168.50.2/24"])])).toEqual([["192.168.50.9"], ["192.168.50.9"]]);
});
