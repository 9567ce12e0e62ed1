import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { codes, Desk, nic, outcome, rackOf } from "../../../../test/fixtures/alloc/build.js";
import { parseHardwareAddress } from "../address/hardware.js";
import { ipAddress } from "../address/ip.js";

function read<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(`../../../../test/fixtures/alloc/${name}.json`, import.meta.url), "utf8")) as T;
}

test("case 168: twenty requests for thirteen addresses give thirteen, and seven say exhausted", () => {
  const { given, expect: expected } = read<{
    given: { subnet: string; gateway: string; parallel: number };
    expect: { distinct: number; exhausted: number };
  }>("168-concurrent-allocation");
  const desk = new Desk();
  desk.declare({ prefix: given.subnet, gateway: ipAddress(given.gateway) });
  const outcomes = Array.from({ length: given.parallel }, (_, index) =>
    outcome(desk.enroll({ nics: [nic(index + 1)], subnet: "1" })),
  );
  const exhausted = outcomes.filter((text) => text === "subnet-exhausted").length;
  expect({ distinct: new Set(outcomes).size - 1, exhausted }).toEqual(expected);
});

test("case 169: an address that two racks claim is given to nobody", () => {
  const { given } = read<{ given: { reports: { host: string; addr: string }[] } }>("169-two-hosts-same-real-ip");
  const desk = new Desk();
  desk.declare({ prefix: "192.168.0.0/24" });
  desk.racks = given.reports.map(({ host, addr }) => rackOf(host, [addr]));
  const result = desk.enroll({ nics: [nic(1)], subnet: "1", address: ipAddress("192.168.0.11") });
  expect(result).toMatchObject({
    problems: [{ code: "address-held-by-rack", message: expect.stringContaining("rack r1 has it on eth0") as string }],
  });
});

test("case 171: one address on two NICs of one machine, refused to another machine", () => {
  const { given, expect: expected } = read<{
    given: { machines: { name: string; macs: string[]; ip: string }[] };
    expect: { accepted: string[]; rejected: string[]; host_blocks: number };
  }>("171-same-ip-two-macs-allowed");
  const desk = new Desk();
  desk.declare({ prefix: "192.0.2.0/24" });
  const results = given.machines.map(({ name, macs, ip }) => {
    const nics = macs.flatMap((text) => parseHardwareAddress(text) ?? []);
    return { name, result: desk.enroll({ nics, name, subnet: "1", address: ipAddress(ip) }) };
  });
  expect(results.filter(({ result }) => result.ok).map(({ name }) => name)).toEqual(expected.accepted);
  const rejected = results.filter(({ result }) => !result.ok);
  expect(rejected.map(({ name }) => name)).toEqual(expected.rejected);
  expect(rejected.map(({ result }) => codes(result))).toEqual([["address-taken"]]);
  expect([...desk.state.allocations.values()].flatMap(({ nics }) => nics)).toHaveLength(expected.host_blocks);
});

test("case 173: in a /16 only the first and last address are not for hosts", () => {
  const { given, expect: expected } = read<{
    given: { subnet: string; probe: string[] };
    expect: { allocatable: Record<string, boolean> };
  }>("173-slash16-dot255-is-host");
  const desk = new Desk();
  desk.declare({ prefix: given.subnet });
  const outcomes = given.probe.map((address, index) => [
    address,
    desk.enroll({ nics: [nic(index + 1)], subnet: "1", address: ipAddress(address) }).ok,
  ]);
  expect(Object.fromEntries(outcomes)).toEqual(expected.allocatable);
});
