import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { ipAddress, type IpAddress } from "../address/ip.js";
import { ipPrefix } from "../address/prefix.js";
import { parseInterfaces } from "../interface/parse-interfaces.js";
import { noteConnection } from "./connection.js";
import { addresses, Fleet } from "../../../../test/support/fleet.js";
import { holdersOf } from "./holders.js";
import { mergeReport } from "./merge.js";
import { serversFor } from "./servers-for.js";
import { topologyProblems } from "./topology-problems.js";
import { emptyTopology, type Topology } from "./topology.js";

const folder = fileURLToPath(new URL("../../../../test/fixtures/", import.meta.url));
const read = (name: string): unknown => JSON.parse(readFileSync(`${folder}ha/${name}.json`, "utf8"));

const POLICY = { serving: [], dns: null, ntp: null, upstreamNtp: [] };
const dns = (topology: Topology, prefix = "192.168.0.0/24"): readonly IpAddress[] =>
  serversFor({ prefix: ipPrefix(prefix), site: "default" }, topology, POLICY).dns;
const codes = (topology: Topology): readonly string[] => topologyProblems(topology).map(({ code }) => code);

describe("HA cases", () => {
  it("169: two hosts with one real address are a problem, whoever came first", () => {
    const { given } = read("169-two-hosts-same-real-ip") as { given: { reports: { host: string; if: string; addr: string }[] } };
    for (const reports of [given.reports, given.reports.toReversed()]) {
      const fleet = new Fleet();
      for (const { host, if: name, addr } of reports) fleet.report(host, { [name]: [addr] }, 0);
      expect(topologyProblems(fleet.topology)).toMatchObject([
        { code: "duplicate-address", at: "default 192.168.0.11", message: "r1 and r2 have the same address 192.168.0.11" },
      ]);
    }
  });

  it("169 in two sites: equal private addresses are two addresses", () => {
    const fleet = new Fleet();
    fleet.report("r1", ["192.168.0.11/24"], 0, { site: "north" });
    fleet.report("r2", ["192.168.0.11/24"], 0, { site: "south" });
    expect(codes(fleet.topology)).toEqual([]);
  });

  it("111: an address on lo of several hosts raises no alarm", () => {
    const fixture = parseInterfaces(readFileSync(`${folder}interfaces/111-lvs-dr-lo.json`, "utf8"));
    if (!fixture.ok) throw new Error("unreadable fixture");
    let topology = emptyTopology();
    for (const [i, rack] of ["r1", "r2"].entries()) {
      // The hosts' own addresses differ, the address on lo does not.
      const interfaces = fixture.value.map((entry) => ({
        ...entry,
        addresses: entry.addresses.map((own) =>
          own.address === "10.0.0.5" ? { ...own, address: ipAddress(`10.0.0.${5 + i}`) } : own,
        ),
      }));
      topology = mergeReport(topology, { rack, name: rack, site: "default", session: 1, sequence: 1, interfaces }, 0).topology;
    }
    topology = { ...topology, at: 3_600_000 };
    expect(holdersOf(topology, "default", ipAddress("10.0.0.80"))).toHaveLength(2);
    expect(codes(topology)).toEqual([]);
  });

  it("212: the newest report names the holder; the silent rack's own address stays", () => {
    const { given, expect: wanted } = read("212-stale-holder-offline") as {
      given: { reports: { host: string; seq: number; age_s: number; addr: string[] }[] };
      expect: { vip_holder: Record<string, string>; dns: string[] };
    };
    const now = 10_000_000;
    const fleet = new Fleet();
    for (const { host, seq, age_s: age, addr } of given.reports) {
      fleet.report(host, addr, now - age * 1000, { sequence: seq });
      if (age > 60) fleet.topology = noteConnection(fleet.topology, { rack: host, connected: false }, now - age * 1000).topology;
    }
    const topology = { ...fleet.topology, at: now };
    for (const [vip, rack] of Object.entries(wanted.vip_holder))
      expect(holdersOf(topology, "default", ipAddress(vip)).map((holder) => holder.rack)).toEqual([rack]);
    expect(dns(topology)).toEqual(wanted.dns);
    expect(codes(topology)).toEqual(["rack-stale"]);
  });

  it("213: an empty report is no report, and the next good one counts though it equals the last", () => {
    const { given, expect: wanted } = read("213-empty-report-must-not-wipe") as {
      given: { reports: { host: string; addr?: string[] }[] };
      expect: { dns_after: string[][] };
    };
    const fleet = new Fleet();
    const after = given.reports.map(({ host, addr }, i) => {
      // A failed scan never becomes a report: the agent has nothing to send.
      if (addr !== undefined) fleet.report(host, { lo: ["127.0.0.1/8"], eth0: addr }, i);
      return dns(fleet.topology);
    });
    expect(after).toEqual(wanted.dns_after);
    expect(fleet.events).toEqual([{ type: "report-ignored", rack: "r1", why: "empty" }]);
    fleet.report("r1", {}, 9);
    expect(dns(fleet.topology)).toEqual(["192.168.0.11"]);
  });

  it("214: the order of a rack's reports is their number, not its clock, and a clock that is off is told", () => {
    const { given, expect: wanted } = read("214-clock-skew-reports") as {
      given: { reports: { host: string; seq: number; wall: string; addr: string[] }[]; coordinator_now: string };
      expect: { current: Record<string, string[]>; warnings: string[] };
    };
    const now = Date.parse(given.coordinator_now);
    const fleet = new Fleet();
    for (const { host, seq, wall, addr } of given.reports)
      fleet.report(host, addr, now, { sequence: seq, rackTime: Date.parse(wall) });
    expect([...(fleet.topology.racks.get("r1")?.held.keys() ?? [])]).toEqual(wanted.current.r1);
    expect(fleet.events.map(({ type }) => type)).toEqual(wanted.warnings);
    fleet.report("r1", given.reports[0]?.addr ?? [], now, { sequence: 1 });
    expect([...(fleet.topology.racks.get("r1")?.held.keys() ?? [])]).toEqual(wanted.current.r1);
    expect(fleet.events.at(-1)).toEqual({ type: "report-ignored", rack: "r1", why: "overtaken" });
  });

  it("216: a rack is what its id says and has what it reports; where a connection came from is not asked", () => {
    const { given, expect: wanted } = read("216-connection-through-vip-or-proxy") as {
      given: { reported: string[] };
      expect: { rack_addresses: string[] };
    };
    const fleet = new Fleet();
    fleet.report("r1", given.reported, 0);
    expect([...(fleet.topology.racks.get("r1")?.held.keys() ?? [])]).toEqual(wanted.rack_addresses);
  });

  it("217: one rack, two connections at once: one record, the newer connection counts", () => {
    const { given, expect: wanted } = read("217-double-registration") as {
      given: { register_parallel: { rack_id: string; hostname: string }[] };
      expect: { racks: number };
    };
    const fleet = new Fleet();
    for (const [i, { rack_id: rack, hostname: name }] of given.register_parallel.entries())
      fleet.report(rack, [`10.0.0.${5 + i}/24`], 0, { name, session: 2 - i, sequence: 1 });
    expect(fleet.topology.racks.size).toBe(wanted.racks);
    expect([...(fleet.topology.racks.get("abc")?.held.keys() ?? [])]).toEqual(["10.0.0.5"]);
  });

  it("218: all racks of the network are listed, wherever the region is", () => {
    const { given, expect: wanted } = read("218-rack-ips-always-in-dns") as {
      given: { racks: Record<string, string>; subnet: string };
      expect: { dns_contains: string[] };
    };
    const fleet = new Fleet();
    for (const [rack, address] of Object.entries(given.racks)) fleet.report(rack, [`${address}/24`], 0);
    expect(dns(fleet.topology, given.subnet)).toEqual(wanted.dns_contains);
  });

  it("105 and 106 in a region: the same answer from the region's configuration as from the rack's", () => {
    for (const knowledge of [{ vips: addresses("192.168.0.28") }, { ledgerVips: addresses("192.168.0.28") }]) {
      const fleet = new Fleet(knowledge);
      fleet.report("r1", ["192.168.0.11/24", "192.168.0.28/24 secondary"], 0);
      expect(dns(fleet.topology)).toEqual(["192.168.0.11"]);
    }
    const own = new Fleet();
    own.report("r1", ["203.0.113.10/32", "203.0.113.11/32"], 0, { real: addresses("203.0.113.11") });
    expect(dns(own.topology, "203.0.113.0/24")).toEqual(["203.0.113.11"]);
  });
});
