import { expect, test } from "vitest";
import { codes, Desk, MINUTE, nic, NOON } from "../../../../test/fixtures/alloc/build.js";
import { ipAddress } from "../address/ip.js";
import { ipPrefix, type IpRange } from "../address/prefix.js";
import { changeSubnet, removeSubnet } from "./declare-subnet.js";
import type { SubnetRequest } from "./request.js";

const range = (first: string, last: string): IpRange => ({ first: ipAddress(first), last: ipAddress(last) });
const PREFIX = "192.168.50.0/24";
const window = range("192.168.50.200", "192.168.50.220");

test("what is left out gets its default, and the domain its stored form", () => {
  const desk = new Desk();
  expect(desk.declare({ prefix: PREFIX, domain: "Rack.EXAMPLE.", mode: "link-local" })).toEqual({
    ok: true,
    value: {
      id: 1,
      prefix: PREFIX,
      site: "default",
      gateway: null,
      domain: "rack.example",
      mode: "link-local",
      window: null,
      enlistment: { pool: "169.254.0.0/16", sliceLength: 20, leaseTime: 60 },
      reserved: [],
      dns: null,
      ntp: null,
      leaseTime: 600,
      maxLeaseTime: 1200,
      createdAt: NOON,
    },
  });
});

test("a prefix with host bits is refused with the network", () => {
  const refusal = new Desk().declare({ prefix: "192.168.50.7/24" });
  expect(refusal).toMatchObject({
    problems: [{ code: "prefix-host-bits", at: "prefix", remedy: "the network is 192.168.50.0/24" }],
  });
});

test.each<[string, Partial<SubnetRequest>]>([
  ["prefix-too-large prefix", { prefix: "2001:d00::/24" }],
  ["prefix-not-for-hosts prefix", { prefix: "fe80::/64" }],
  ["prefix-not-for-hosts prefix", { prefix: "ff02::/64" }],
  ["prefix-not-for-hosts prefix", { prefix: "::1/128" }],
  ["prefix-not-for-hosts prefix", { prefix: "::ffff:0:0/96" }],
  ["gateway-not-for-hosts gateway", { prefix: "2001:db8::/64", gateway: ipAddress("2001:db8::") }],
  ["window-outside window", { prefix: "2001:db8::/64", mode: "window", window: range("2001:db8:0:1::", "2001:db8:0:1::9") }],
  ["server-family dns[0]", { prefix: "2001:db8::/64", dns: [ipAddress("192.0.2.1")] }],
  ["enlistment-family mode", { prefix: "2001:db8::/64", mode: "link-local" }],
  ["prefix-too-large prefix", { prefix: "12.0.0.0/7" }],
  ["prefix-not-for-hosts prefix", { prefix: "169.254.0.0/24" }],
  ["prefix-not-for-hosts prefix", { prefix: "127.0.0.0/8" }],
  ["prefix-not-for-hosts prefix", { prefix: "239.0.0.0/24" }],
  ["domain-invalid domain", { domain: "rack_1.example" }],
  ["domain-invalid domain", { domain: "" }],
  ["domain-invalid domain", { domain: "50.168.192.in-addr.arpa" }],
  ["domain-invalid domain", { domain: `${"a".repeat(60)}.${"b".repeat(60)}.${"c".repeat(60)}.${"d".repeat(60)}` }],
  ["site-invalid site", { site: "west coast" }],
  ["gateway-outside gateway", { gateway: ipAddress("192.168.51.1") }],
  ["gateway-outside gateway", { gateway: ipAddress("2001:db8::1") }],
  ["gateway-not-for-hosts gateway", { gateway: ipAddress("192.168.50.255") }],
  ["window-missing window", { mode: "window" }],
  ["window-without-mode window", { mode: "static", window }],
  ["window-inverted window", { mode: "window", window: range("192.168.50.220", "192.168.50.200") }],
  ["window-outside window", { mode: "window", window: range("192.168.50.200", "192.168.51.10") }],
  ["window-outside window", { mode: "window", window: range("2001:db8::1", "2001:db8::2") }],
  ["window-not-for-hosts window", { mode: "window", window: range("192.168.50.200", "192.168.50.255") }],
  ["gateway-in-window window", { mode: "window", window, gateway: ipAddress("192.168.50.201") }],
  ["server-in-window window", { mode: "window", window, dns: [ipAddress("192.168.50.210")] }],
  ["reserved-inverted reserved[1]", { reserved: [range("192.168.50.2", "192.168.50.3"), range("192.168.50.9", "192.168.50.8")] }],
  ["reserved-outside reserved[0]", { reserved: [range("192.168.49.2", "192.168.50.3")] }],
  ["servers-empty dns", { dns: [] }],
  ["server-family ntp[1]", { ntp: [ipAddress("192.0.2.1"), ipAddress("2001:db8::1")] }],
  ["enlistment-without-mode enlistment", { mode: "static", enlistment: {} }],
  ["enlistment-slice-invalid enlistment.sliceLength", { mode: "link-local", enlistment: { sliceLength: 16 } }],
  ["enlistment-slice-invalid enlistment.sliceLength", { mode: "link-local", enlistment: { sliceLength: 30 } }],
  ["enlistment-lease-time enlistment.leaseTime", { mode: "link-local", enlistment: { leaseTime: 5 } }],
  ["enlistment-pool-family enlistment.pool", { mode: "link-local", enlistment: { pool: ipPrefix("fd00::/64") } }],
  ["enlistment-pool-overlaps enlistment.pool", { mode: "link-local", enlistment: { pool: ipPrefix("192.168.0.0/16") } }],
  ["lease-time-invalid leaseTime", { leaseTime: 1 }],
  ["lease-time-above-maximum leaseTime", { leaseTime: 3600, maxLeaseTime: 600 }],
])("%s: %j", (expected, change) => {
  const refusal = new Desk().declare({ prefix: PREFIX, ...change });
  expect(refusal.ok ? [] : refusal.problems.map(({ code, at }) => `${code} ${at}`)).toEqual([expected]);
  expect(refusal.ok ? [] : refusal.problems.filter(({ remedy }) => remedy === undefined)).toEqual([]);
});

test("several faults are told at once", () => {
  const refusal = new Desk().declare({
    prefix: PREFIX,
    domain: "-",
    gateway: ipAddress("10.0.0.1"),
    leaseTime: 2,
    maxLeaseTime: 1,
  });
  expect(codes(refusal)).toEqual(["domain-invalid", "gateway-outside", "lease-time-invalid", "lease-time-invalid"]);
});

test("subnets of one site do not overlap; equal prefixes of two sites need two domains", () => {
  const desk = new Desk();
  desk.declare({ prefix: PREFIX });
  const overlap = desk.declare({ prefix: "192.168.0.0/16", domain: "b.example" });
  expect(overlap).toMatchObject({
    problems: [{ code: "subnet-overlaps", message: expect.stringContaining("subnet 1, 192.168.50.0/24") as string }],
  });
  expect(codes(desk.declare({ prefix: PREFIX, site: "west" }))).toEqual(["domain-ambiguous"]);
  expect(codes(desk.declare({ prefix: PREFIX, site: "west", domain: "west.example" }))).toEqual([]);
});

test("enlistment pools of a site are cut alike and keep clear of its subnets", () => {
  const desk = new Desk();
  desk.declare({ prefix: PREFIX, mode: "link-local", enlistment: { pool: ipPrefix("10.9.0.0/16"), sliceLength: 24 } });
  const alike = { mode: "link-local", enlistment: { pool: ipPrefix("10.9.0.0/16"), sliceLength: 24 } } as const;
  expect(codes(desk.declare({ prefix: "192.168.51.0/24", ...alike }))).toEqual([]);
  const other = { mode: "link-local", enlistment: { pool: ipPrefix("10.9.0.0/16"), sliceLength: 20 } } as const;
  expect(codes(desk.declare({ prefix: "192.168.52.0/24", ...other }))).toEqual([
    "enlistment-pools-differ",
    "enlistment-pools-differ",
  ]);
  expect(codes(desk.declare({ prefix: "10.9.1.0/24" }))).toEqual(["subnet-overlaps-pool", "subnet-overlaps-pool"]);
});

test("a window or gateway over an allocation is refused by the holder's name, and a smaller change goes through", () => {
  const desk = new Desk();
  desk.declare({ prefix: PREFIX });
  desk.enroll({ nics: [nic(1)], subnet: "1", name: "db1", address: ipAddress("192.168.50.210") });
  const change = (wish: Partial<SubnetRequest>) => desk.apply(changeSubnet(desk.state, { id: 1, change: wish }, NOON));
  expect(change({ mode: "window", window })).toMatchObject({
    problems: [
      { code: "window-over-allocations", message: expect.stringContaining("192.168.50.210 of db1.rack.example") as string },
    ],
  });
  expect(codes(change({ gateway: ipAddress("192.168.50.210") }))).toEqual(["gateway-allocated"]);
  expect(change({ mode: "window", window: range("192.168.50.200", "192.168.50.209") })).toMatchObject({
    ok: true,
    value: { mode: "window" },
  });
  expect(codes(change({ prefix: "192.168.50.0/25" }))).toEqual(["subnet-fixed"]);
  expect(codes(change({ site: "west" }))).toEqual(["subnet-fixed"]);
  expect(change({ mode: "static" })).toMatchObject({ ok: true, value: { window: null } });
});

test("an enlistment keeps what was chosen for it, through other modes and changes of a part of it", () => {
  const desk = new Desk();
  const chosen = { pool: ipPrefix("10.9.0.0/16"), sliceLength: 24, leaseTime: 120 };
  desk.declare({ prefix: PREFIX, mode: "link-local", enlistment: chosen });
  const change = (wish: Partial<SubnetRequest>) => desk.apply(changeSubnet(desk.state, { id: 1, change: wish }, NOON));
  expect(change({ mode: "static" })).toMatchObject({ value: { enlistment: null } });
  expect(change({ mode: "window", window })).toMatchObject({ value: { enlistment: null } });
  expect(change({ gateway: null })).toMatchObject({ value: { enlistment: null } });
  expect(change({ mode: "link-local" })).toMatchObject({ value: { enlistment: chosen, window: null } });
  expect(desk.state.subnets.get(1)).not.toHaveProperty("formerEnlistment");
  expect(change({ enlistment: { leaseTime: 60 } })).toMatchObject({ value: { enlistment: { ...chosen, leaseTime: 60 } } });
  change({ mode: "static" });
  expect(change({ mode: "link-local", enlistment: { sliceLength: 22 } })).toMatchObject({
    value: { enlistment: { ...chosen, leaseTime: 60, sliceLength: 22 } },
  });
  change({ mode: "off", enlistment: null });
  expect(change({ mode: "link-local" })).toMatchObject({
    value: { enlistment: { pool: "169.254.0.0/16", sliceLength: 20, leaseTime: 60 } },
  });
});

test.each([
  ["ip-192-168-50-9.rack.example", "192.168.51.0/24", "domain-premade-taken"],
  ["a.b.ip-192-168-50-9.rack.example", "192.168.51.0/24", "domain-premade-taken"],
  ["IP-192-168-50-9.Rack.Example.", "192.168.51.0/24", "domain-premade-taken"],
  ["ip-192-168-51-9.rack.example", "192.168.51.0/24", undefined],
  ["ip-192-168-50-9.other.example", "192.168.51.0/24", undefined],
  ["xrack.example", "192.168.51.0/24", undefined],
  ["db1.rack.example", "192.168.51.0/24", "domain-taken"],
  ["under.db1.rack.example", "192.168.51.0/24", undefined],
])("the domain %s of %s beside rack.example of 192.168.50.0/24: %s", (domain, prefix, code) => {
  const desk = new Desk();
  desk.declare({ prefix: PREFIX });
  desk.enroll({ nics: [nic(1)], subnet: "1", name: "db1" });
  expect(codes(desk.declare({ prefix, domain }))[0]).toBe(code);
});

test("the same in the other order, by a change of domain, and for the name of a machine", () => {
  const desk = new Desk();
  desk.declare({ prefix: "192.168.51.0/24", domain: "ip-192-168-50-9.rack.example" });
  expect(codes(desk.declare({ prefix: PREFIX, domain: "rack.example" }))).toEqual(["domain-premade-taken"]);
  desk.declare({ prefix: PREFIX, domain: "other.example" });
  expect(codes(desk.apply(changeSubnet(desk.state, { id: 2, change: { domain: "rack.example" } }, NOON)))).toEqual([
    "domain-premade-taken",
  ]);
  desk.declare({ prefix: "192.168.52.0/24", domain: "db1.other.example" });
  expect(codes(desk.enroll({ nics: [nic(1)], subnet: "2", name: "db1" }))).toEqual(["name-of-domain"]);
});

test("a new domain renames every machine, unless a name is taken there", () => {
  const desk = new Desk();
  desk.declare({ prefix: PREFIX });
  desk.declare({ prefix: "192.168.51.0/24", domain: "b.example" });
  desk.enroll({ nics: [nic(1)], subnet: "1", name: "db1" });
  desk.enroll({ nics: [nic(2)], subnet: "1" });
  const other = desk.enroll({ nics: [nic(3)], subnet: "2", name: "db1" });
  const refusal = desk.apply(changeSubnet(desk.state, { id: 1, change: { domain: "b.example" } }, NOON));
  expect(refusal).toMatchObject({
    problems: [{ code: "name-taken", message: expect.stringContaining("db1.b.example") as string }],
  });
  expect(other.ok).toBe(true);
  desk.apply(changeSubnet(desk.state, { id: 1, change: { domain: "c.example" } }, NOON));
  expect([...desk.state.allocations.values()].map(({ name }) => name)).toEqual(
    expect.arrayContaining(["db1.c.example", "ip-192-168-50-2.c.example", "db1.b.example"]),
  );
  expect(desk.state.allocationByName.get("db1.rack.example")).toBeUndefined();
});

test("a subnet in use stays; a removed one's number is never used again and its released addresses go on resting", () => {
  const desk = new Desk();
  desk.declare({ prefix: PREFIX });
  desk.enroll({ nics: [nic(1)], subnet: "1" });
  expect(desk.apply(removeSubnet(desk.state, { id: 1 }, NOON))).toMatchObject({
    problems: [
      { code: "subnet-in-use", message: expect.stringContaining("192.168.50.1 of ip-192-168-50-1.rack.example") as string },
    ],
  });
  desk.release(nic(1));
  expect(desk.apply(removeSubnet(desk.state, { id: 1 }, NOON)).ok).toBe(true);
  expect(codes(desk.apply(removeSubnet(desk.state, { id: 1 }, NOON)))).toEqual(["subnet-unknown"]);
  expect(desk.declare({ prefix: PREFIX })).toMatchObject({ value: { id: 2 } });
  const asked = { nics: [nic(2)], subnet: "2", address: ipAddress("192.168.50.1") };
  expect(codes(desk.enroll(asked))).toEqual(["address-resting"]);
  desk.now += 31 * MINUTE;
  expect(codes(desk.enroll(asked))).toEqual([]);
});

test("shortening the lease time does not shorten the rest of addresses served with the longer one", () => {
  const desk = new Desk();
  desk.declare({ prefix: PREFIX, leaseTime: 86_400, maxLeaseTime: 86_400 });
  desk.enroll({ nics: [nic(1)], subnet: "1" });
  desk.apply(changeSubnet(desk.state, { id: 1, change: { leaseTime: 600, maxLeaseTime: 600 } }, desk.now));
  desk.release(nic(1));
  desk.now += 86_400_000;
  const asked = { nics: [nic(2)], subnet: "1", address: ipAddress("192.168.50.1") };
  expect(codes(desk.enroll(asked))).toEqual(["address-resting"]);
  desk.now += 8_640_001;
  expect(codes(desk.enroll(asked))).toEqual([]);
});
