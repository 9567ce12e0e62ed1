import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { codes, Desk, leaseOf, nic, rackOf } from "../../../../test/fixtures/alloc/build.js";
import { parseHardwareAddress, type HardwareAddress } from "../address/hardware.js";
import { ipAddress } from "../address/ip.js";
import { listMachines } from "../api/machine-list.js";
import { checkZones } from "../dns/check-zones.js";
import { dnsLabelOf } from "../names/client-name.js";
import { planRacks } from "../plan/plan-racks.js";
import type { RackView } from "../topology/rack-view.js";

type LeaseRow = readonly [address: string, mac: string, name: string];

function read<T>(path: string): T {
  return JSON.parse(readFileSync(new URL(`../../../../test/fixtures/${path}.json`, import.meta.url), "utf8")) as T;
}

function mac(text: string): HardwareAddress {
  const address = parseHardwareAddress(text);
  if (address === null) throw new Error(`not a MAC: ${text}`);
  return address;
}

/** A rack in 192.0.2.0/24 whose clients have these leases and call themselves so. */
function rackWith(leases: readonly LeaseRow[], name = "r1"): RackView {
  const reports = leases.map(([address, hardware, claimed]) =>
    leaseOf(address, mac(hardware), { dnsLabel: dnsLabelOf(claimed, new Set(["rack1"])) }),
  );
  return rackOf(name, ["192.0.2.2/24"], reports);
}

function deskIn(domain: string): Desk {
  const desk = new Desk();
  desk.declare({ prefix: "192.0.2.0/24", domain });
  desk.racks = [rackWith([])];
  return desk;
}

/** The forward zone's records by owner, as every rack of the site serves them. The zone is one that loads. */
function forward(desk: Desk, domain: string): Map<string, string[]> {
  const { subnets, allocations, quarantines, records, reservations } = desk.state.content();
  const policy = { forwarders: [], mailbox: null, ntpUpstreams: [] };
  const sources = { subnets, allocations, quarantines, records, reservations, racks: desk.racks, now: desk.now, policy };
  const zones = planRacks(sources, new Map()).sites.flatMap((site) => site.zones.map((zone) => ({ ...zone, serial: 1 })));
  expect(checkZones({ zones })).toEqual([]);
  const owners = new Map<string, string[]>();
  for (const { owner, type, value } of zones.find(({ origin }) => origin === domain)?.records ?? [])
    owners.set(owner, [...(owners.get(owner) ?? []), `${type} ${value}`]);
  return owners;
}

describe("names that clients claim", () => {
  test("case 183: clients' names are published nowhere, localhost is none, and of two ubuntu neither displaces the other", () => {
    const { given, expect: expected } = read<{
      given: { domain: string; leases: LeaseRow[] };
      expect: { absent: string[] };
    }>("names/183-duplicate-client-names");
    const desk = deskIn(given.domain);
    const before = forward(desk, given.domain);
    desk.racks = [rackWith(given.leases)];
    expect(forward(desk, given.domain)).toEqual(before);
    for (const name of expected.absent) expect(dnsLabelOf(name)).toBeNull();
    const labels = [...(desk.racks[0]?.leases.values() ?? [])].map(({ address, dnsLabel }) => [address, dnsLabel]);
    expect(labels).toEqual(given.leases.map(([address, , name]) => [address, expected.absent.includes(name) ? null : name]));
  });

  test("case 184: a machine's name stays its own before, during and after a client's lease under that name", () => {
    const { given, expect: expected } = read<{
      given: { domain: string; static: Record<string, string>; events: { lease?: string; hostname?: string }[] };
      expect: { a_always: Record<string, string[]> };
    }>("names/184-dynamic-must-not-eclipse-static");
    const desk = deskIn(given.domain);
    for (const [name, address] of Object.entries(given.static))
      expect(codes(desk.enroll({ nics: [nic(1)], name, subnet: "1", address: ipAddress(address) }))).toEqual([]);
    const always = (): void => {
      const zone = forward(desk, given.domain);
      for (const [name, addresses] of Object.entries(expected.a_always))
        expect(zone.get(name)).toEqual(addresses.map((address) => `A ${address}`));
    };
    always();
    for (const { lease, hostname } of given.events) {
      desk.racks = [rackWith(lease === undefined || hostname === undefined ? [] : [[lease, "02:00:00:00:77:01", hostname]])];
      always();
    }
  });

  test("case 185: names that steer others are never a client's, and apex and racks keep their records", () => {
    const { given, expect: expected } = read<{
      given: { domain: string; reserved: string[]; leases: LeaseRow[] };
      expect: { absent: string[]; unchanged: string[] };
    }>("dns/185-name-of-server-or-gateway");
    const desk = deskIn(given.domain);
    const before = forward(desk, given.domain);
    desk.racks = [rackWith(given.leases)];
    const after = forward(desk, given.domain);
    expect(after).toEqual(before);
    for (const absent of expected.absent) {
      const [owner = "", type = ""] = absent.split(" ");
      expect((after.get(owner) ?? []).filter((record) => record.startsWith(type))).toEqual([]);
    }
    for (const [, , name] of given.leases) expect(dnsLabelOf(name, new Set(given.reserved))).toBeNull();
    for (const name of given.reserved) expect(dnsLabelOf(name, new Set(expected.unchanged))).toBeNull();
  });
});

test("case 186: an alias and a machine of one name: whoever comes second is refused, and the zone loads", () => {
  const { given, expect: expected } = read<{
    given: { domain: string; cname: Record<string, string>; machines: Record<string, string> };
    expect: { diagnostics_min: number };
  }>("dns/186-cname-and-a");
  for (const aliasFirst of [true, false]) {
    const desk = deskIn(given.domain);
    const refusals: string[] = [];
    const alias = (): void => {
      for (const [name, target] of Object.entries(given.cname))
        refusals.push(...codes(desk.record(`${name}.${given.domain}`, "CNAME", `${target}.${given.domain}`)));
    };
    if (aliasFirst) alias();
    for (const [index, [name, address]] of Object.entries(given.machines).entries())
      refusals.push(...codes(desk.enroll({ nics: [nic(index + 1)], name, subnet: "1", address: ipAddress(address) })));
    if (!aliasFirst) alias();
    expect(refusals).toEqual(["name-taken"]);
    expect(refusals.length).toBeGreaterThanOrEqual(expected.diagnostics_min);
    expect(forward(desk, given.domain).get("db")).toEqual([aliasFirst ? "CNAME m1.example.test" : "A 192.0.2.10"]);
  }
});

test("case 190: NICs with random addresses are sightings while their lease lasts, and never machines", () => {
  const { given, expect: expected } = read<{ given: { leases: LeaseRow[] }; expect: { permanent_devices: number } }>(
    "names/190-random-mac-churn",
  );
  const desk = deskIn("example.test");
  const list = (): string[] => {
    const { machines, allocations, subnets } = desk.state.content();
    return listMachines({ machines, allocations, subnets, racks: desk.racks, nowMs: desk.now }).map(({ state }) => state);
  };
  desk.racks = [rackWith(given.leases)];
  expect(list()).toEqual(given.leases.map(() => "sighted"));
  expect(desk.state.machines.size).toBe(expected.permanent_devices);
  desk.now += 2 * 3600 * 1000;
  expect(list()).toEqual([]);
});
