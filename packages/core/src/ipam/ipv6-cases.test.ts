import { expect, test } from "vitest";
import { codes, Desk, nic, outcome, rackOf } from "../../../../test/fixtures/alloc/build.js";
import { ipAddress } from "../address/ip.js";
import { planRacks } from "../plan/plan-racks.js";
import { checkLedger } from "./check-ledger.js";

const PREFIX = "2001:db8:50::/64";

test("a /64 gives its lowest addresses, never the subnet-router anycast, the gateway, servers, the window or what a rack has", () => {
  const desk = new Desk();
  const window = { first: ipAddress("2001:db8:50::1000"), last: ipAddress("2001:db8:50::ffff:ffff:ffff:fff0") };
  const servers = { gateway: ipAddress("2001:db8:50::1"), dns: [ipAddress("2001:db8:50::2")] };
  expect(codes(desk.declare({ prefix: PREFIX, mode: "window", window, ...servers }))).toEqual([]);
  desk.racks = [rackOf("r1", ["2001:db8:50::3/64"])];
  expect(outcome(desk.enroll({ nics: [nic(1)], subnet: "1", name: "db1" }))).toBe("2001:db8:50::4");
  expect(outcome(desk.enroll({ nics: [nic(1)], subnet: PREFIX }))).toBe("2001:db8:50::4");
  const ask = (address: string) => codes(desk.enroll({ nics: [nic(2)], address: ipAddress(address) }));
  expect(ask("2001:db8:50::")).toEqual(["address-not-for-hosts"]);
  expect(ask("2001:db8:50::1")).toEqual(["address-is-gateway"]);
  expect(ask("2001:db8:50::2")).toEqual(["address-is-server"]);
  expect(ask("2001:db8:50::2000")).toEqual(["address-in-window"]);
  expect(ask("2001:db8:50::3")).toEqual(["address-held-by-rack"]);
  expect(ask("2001:db8:50::4")).toEqual(["address-taken"]);
  expect(ask("2001:db8:50::ffff:ffff:ffff:ffff")).toEqual([]);
  expect(checkLedger(desk.state.content())).toEqual([]);
});

test.each(["2001:db8:50::/127", "2001:db8:50::2/127"])("%s is usable whole, and then exhausted", (prefix) => {
  const desk = new Desk();
  desk.declare({ prefix });
  const given = [1, 2, 3].map((number) => outcome(desk.enroll({ nics: [nic(number)], subnet: "1" })));
  expect(given.slice(0, 2).every((address) => address.startsWith("2001:db8:50::"))).toBe(true);
  expect(given[2]).toBe("subnet-exhausted");
});

test("a /128 has its one address", () => {
  const desk = new Desk();
  desk.declare({ prefix: "2001:db8:50::7/128" });
  expect(outcome(desk.enroll({ nics: [nic(1)], subnet: "1" }))).toBe("2001:db8:50::7");
});

test("a released address rests, and its machine gets it back", () => {
  const desk = new Desk();
  desk.declare({ prefix: PREFIX });
  desk.enroll({ nics: [nic(1)], subnet: "1" });
  desk.release(nic(1));
  expect(outcome(desk.enroll({ nics: [nic(2)], subnet: "1" }))).toBe("2001:db8:50::2");
  expect(outcome(desk.enroll({ nics: [nic(1)], subnet: "1" }))).toBe("2001:db8:50::1");
});

test("a machine with an address of each family; plans and zones carry both", () => {
  const desk = new Desk();
  desk.declare({ prefix: "192.168.50.0/24", domain: "rack.example", mode: "static" });
  const window = { first: ipAddress("2001:db8:50::f000"), last: ipAddress("2001:db8:50::ffff") };
  desk.declare({ prefix: PREFIX, domain: "v6.rack.example", mode: "window", window });
  desk.racks = [rackOf("r1", ["192.168.50.250/24", "2001:db8:50::fa/64"])];
  expect(outcome(desk.enroll({ nics: [nic(1)], subnet: "1", name: "db1" }))).toBe("192.168.50.1");
  expect(outcome(desk.enroll({ nics: [nic(1)], subnet: "2", name: "db1" }))).toBe("2001:db8:50::1");
  expect(codes(desk.reserve("2001:db8:50::fff0", "2001:db8:50::fff3"))).toEqual([]);
  expect(outcome(desk.enroll({ nics: [nic(2)], subnet: "2" }))).toBe("2001:db8:50::2");
  const policy = { forwarders: [], mailbox: null, ntpUpstreams: [] };
  const { sites, problems } = planRacks({ ...desk.state.content(), racks: desk.racks, now: desk.now, policy }, new Map());
  expect(problems).toEqual([]);
  const served = sites[0]?.racks[0]?.subnets.find(({ id }) => id === 2);
  expect(served).toMatchObject({ prefix: PREFIX, mode: "window", window, dns: ["2001:db8:50::fa"] });
  expect(served?.excludedRanges).toEqual([{ first: "2001:db8:50::fff0", last: "2001:db8:50::fff3" }]);
  expect(served?.hosts.map(({ address, name }) => `${name} ${address}`)).toEqual([
    "db1.v6.rack.example 2001:db8:50::1",
    "ip-2001-db8-50-0-0-0-0-2.v6.rack.example 2001:db8:50::2",
  ]);
  const records = (origin: string): string[] =>
    (sites[0]?.zones.find((zone) => zone.origin === origin)?.records ?? []).map(
      ({ owner, type, value }) => `${owner} ${type} ${value}`,
    );
  expect(records("v6.rack.example")).toContain("db1 AAAA 2001:db8:50::1");
  expect(records("v6.rack.example")).toContain("ip-2001-db8-50-0-0-0-0-2 AAAA 2001:db8:50::2");
  const reverse = records("0.0.0.0.0.5.0.0.8.b.d.0.1.0.0.2.ip6.arpa");
  expect(reverse).toContain("1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0 PTR db1.v6.rack.example");
});
