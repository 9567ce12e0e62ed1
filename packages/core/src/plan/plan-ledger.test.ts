import { expect, test } from "vitest";
import { codes, Desk, nic, rackOf } from "../../../../test/fixtures/alloc/build.js";
import { ipAddress } from "../address/ip.js";
import { removeVipOwner } from "../ipam/change-vip.js";
import { planRacks, type RegionPlan } from "./plan-racks.js";

function plan(desk: Desk): RegionPlan {
  const policy = { forwarders: [], mailbox: null, ntpUpstreams: [] };
  return planRacks({ ...desk.state.content(), racks: desk.racks, now: desk.now, policy }, new Map());
}

test("VIPs and reservations are out of every pool, additional addresses are hosts only where DHCP serves them, records stand in the zone", () => {
  const desk = new Desk();
  const window = { first: ipAddress("10.0.0.100"), last: ipAddress("10.0.0.110") };
  desk.declare({ prefix: "10.0.0.0/24" });
  desk.racks = [rackOf("r1", ["10.0.0.250/24"])];
  desk.enroll({ nics: [nic(1), nic(2)], name: "m1", subnet: "1" });
  const at = (address: string): { address: ReturnType<typeof ipAddress> } => ({ address: ipAddress(address) });
  expect(codes(desk.vip({ owners: ["m1"], name: "front", ...at("10.0.0.105") }))).toEqual([]);
  expect(codes(desk.add({ machine: "m1", name: "pod", ...at("10.0.0.20") }))).toEqual([]);
  expect(codes(desk.add({ machine: "m1", delivery: "dhcp", ...at("10.0.0.21") }))).toEqual(["nic-in-use"]);
  desk.change("m1", { removeNics: [nic(2)] });
  desk.change("m1", { addNics: [nic(3)] });
  const own = [...desk.state.allocations.values()].find(({ kind }) => kind === "machine");
  if (own === undefined) throw new Error("no own address");
  desk.state.apply({ table: "allocation", before: own, after: { ...own, nics: [nic(1)] } });
  expect(codes(desk.add({ machine: "m1", delivery: "dhcp", ...at("10.0.0.21") }))).toEqual([]);
  expect(codes(desk.record("www.rack.example", "CNAME", "front.rack.example"))).toEqual([]);
  expect(codes(desk.record("rack.example", "TXT", "of rack 1"))).toEqual([]);
  expect(codes(desk.reserve("10.0.0.107", "10.0.0.108"))).toEqual([]);
  const subnet = desk.state.spaceOf(1).subnet;
  desk.state.apply({ table: "subnet", before: subnet, after: { ...subnet, mode: "window", window } });
  const { sites, problems } = plan(desk);
  expect(problems).toEqual([]);
  const served = sites[0]?.racks[0]?.subnets[0];
  expect(served?.excluded).toEqual(["10.0.0.105"]);
  expect(served?.excludedRanges).toEqual([{ first: "10.0.0.107", last: "10.0.0.108" }]);
  expect(served?.hosts.map(({ hardwareAddress, address }) => `${address} ${hardwareAddress}`)).toEqual([
    `10.0.0.1 ${nic(1)}`,
    `10.0.0.21 ${nic(3)}`,
  ]);
  const zone = sites[0]?.zones.find(({ origin }) => origin === "rack.example");
  expect(zone?.records.map(({ owner, type, value }) => `${owner} ${type} ${value}`)).toEqual([
    "@ TXT of rack 1",
    "front A 10.0.0.105",
    "m1 A 10.0.0.1",
    "pod A 10.0.0.20",
    "rack-r1 A 10.0.0.250",
    "www CNAME front.rack.example",
  ]);
  desk.apply(removeVipOwner(desk.state, { vip: "front", machine: "m1" }, desk.now));
  expect(
    plan(desk)
      .sites[0]?.zones.find(({ origin }) => origin === "rack.example")
      ?.records.map(({ owner }) => owner),
  ).toContain("www");
});

test("a rack that joins under the name of a record keeps its own name, and the record is named", () => {
  const desk = new Desk();
  desk.declare({ prefix: "10.0.0.0/24" });
  desk.record("rack-r1.rack.example", "CNAME", "elsewhere.example");
  desk.racks = [rackOf("r1", ["10.0.0.250/24"])];
  const { sites, problems } = plan(desk);
  expect(problems.map(({ code, at }) => `${code} ${at}`)).toEqual(["name-of-rack record x-1"]);
  const zone = sites[0]?.zones.find(({ origin }) => origin === "rack.example");
  expect(zone?.records).toMatchObject([{ owner: "rack-r1", type: "A" }]);
});
