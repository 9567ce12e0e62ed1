import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { parseHardwareAddress } from "../address/hardware.js";
import { ipAddress } from "../address/ip.js";
import { ipPrefix } from "../address/prefix.js";
import type { DaemonStatus } from "../protocol/messages.js";
import { noteConnection, noteServers } from "./connection.js";
import { Fleet, hostWith } from "../../../../test/support/fleet.js";
import { topologyOf } from "./from-rack-views.js";
import { discrepancies, observedNetworks } from "./networks.js";
import type { RackView } from "./rack-view.js";
import { regionAddresses } from "./region-addresses.js";
import { segments } from "./segments.js";
import { serversFor, type ServerPolicy } from "./servers-for.js";

const POLICY: ServerPolicy = { serving: [], dns: null, ntp: null, upstreamNtp: [] };
const NETWORK = { prefix: ipPrefix("10.0.0.0/24"), site: "default" };

describe("servers of a network", () => {
  function fleet(): Fleet {
    const racks = new Fleet();
    racks.report("r1", ["10.0.0.9/24", "10.0.0.40/24 secondary"], 0);
    racks.report("r2", ["10.0.0.2/24"], 0);
    racks.report("r3", { eth0: ["10.0.0.3/24"], eth1: ["10.1.0.3/24"] }, 0);
    racks.report("r4", ["10.1.0.1/24", "2001:db8::4/64"], 0);
    racks.report("elsewhere", ["10.0.0.5/24"], 0, { site: "south" });
    return racks;
  }

  it("come primary first, then serving, then on the network, then the rest, each in numeric order", () => {
    const { topology } = fleet();
    const lists = serversFor(NETWORK, topology, { ...POLICY, serving: ["r1", "r3"] });
    expect(lists.dns).toEqual(["10.0.0.9", "10.0.0.3", "10.0.0.2", "10.1.0.1"]);
    expect(serversFor({ ...NETWORK, prefix: ipPrefix("2001:db8::/64") }, topology, POLICY).dns).toEqual(["2001:db8::4"]);
  });

  it("leave out a named that does not answer, and all NTP servers that did not", () => {
    const racks = fleet();
    racks.topology = noteServers(racks.topology, { rack: "r1", servers: { dns: false, ntp: true } }, 0);
    racks.topology = noteServers(racks.topology, { rack: "r2", servers: { dns: true, ntp: true } }, 0);
    const lists = serversFor(NETWORK, racks.topology, {
      ...POLICY,
      serving: ["r1", "r3"],
      upstreamNtp: [ipAddress("192.0.2.123")],
    });
    expect(lists).toEqual({ dns: ["10.0.0.3", "10.0.0.2", "10.1.0.1"], ntp: ["10.0.0.9"], problems: [] });
  });

  it("are the upstreams with a problem where no serving rack's NTP answers", () => {
    const lists = serversFor(NETWORK, fleet().topology, { ...POLICY, serving: ["r1"], upstreamNtp: [ipAddress("192.0.2.123")] });
    expect(lists.ntp).toEqual(["192.0.2.123"]);
    expect(lists.problems.map(({ code }) => code)).toEqual(["ntp-not-answering"]);
  });

  it("are all racks with a problem where no named answers", () => {
    const racks = fleet();
    for (const rack of ["r1", "r2", "r3", "r4"])
      racks.topology = noteServers(racks.topology, { rack, servers: { dns: false, ntp: true } }, 0);
    const lists = serversFor(NETWORK, racks.topology, { ...POLICY, serving: ["r1"] });
    expect(lists.dns).toHaveLength(4);
    expect(lists.problems.map(({ code }) => code)).toEqual(["dns-not-answering"]);
  });

  it("are the best candidate with a warning where nothing is surely real", () => {
    const racks = new Fleet({ vips: new Set([ipAddress("10.0.0.60")]) });
    racks.report("r1", ["10.0.0.50/32", "10.0.0.51/32"], 0);
    const unsure = serversFor(NETWORK, racks.topology, POLICY);
    expect(unsure.dns).toEqual(["10.0.0.50"]);
    expect(unsure.problems.map(({ code }) => code)).toEqual(["server-uncertain", "ntp-not-answering"]);
    racks.report("r1", ["10.0.0.60/24"], 9000);
    expect(serversFor(NETWORK, racks.topology, POLICY).dns).toEqual(["10.0.0.60"]);
  });

  it("do not reach a rack by an address that other racks have as well", () => {
    const racks = new Fleet();
    racks.report("r1", { br0: ["10.3.0.1/24"], eth0: ["10.7.0.1/24"] }, 0);
    racks.report("r2", { br0: ["10.3.0.1/24"], eth0: ["10.8.0.1/24"] }, 0);
    expect(serversFor(NETWORK, racks.topology, POLICY).dns).toEqual(["10.7.0.1", "10.8.0.1"]);
  });

  it("reach a rack by a shared address where it has no other of that family", () => {
    const racks = new Fleet();
    racks.report("r1", ["10.3.0.1/24", "2001:db8::1/64"], 0);
    racks.report("r2", ["10.3.0.1/24", "2001:db8::2/64"], 0);
    expect(serversFor(NETWORK, racks.topology, POLICY).dns).toEqual(["10.3.0.1"]);
  });

  it("reach a rack by a sure address elsewhere rather than by an unsure one on the network", () => {
    const racks = new Fleet();
    racks.report("r2", ["10.0.0.2/24"], 0);
    racks.report("r3", { eth0: ["10.0.0.3/24 secondary", "10.0.0.4/24 secondary"], eth1: ["10.9.0.3/24"] }, 0);
    expect(serversFor(NETWORK, racks.topology, POLICY).dns).toEqual(["10.0.0.2", "10.9.0.3"]);
  });

  it("are the rack's own pool address on the enlistment link", () => {
    const own = ipAddress("169.254.16.1");
    expect(serversFor(NETWORK, fleet().topology, { ...POLICY, dns: [ipAddress("10.0.0.53")], enlistment: own })).toEqual({
      dns: [own],
      ntp: [own],
      problems: [],
    });
  });

  it("stay while racks are silent and while a link has no carrier", () => {
    const racks = fleet();
    for (const rack of ["r1", "r2"]) racks.topology = noteConnection(racks.topology, { rack, connected: false }, 0).topology;
    racks.topology = { ...racks.topology, at: 86_400_000 };
    const down = hostWith({ eth0: ["10.0.0.3/24"], eth1: ["10.1.0.3/24"] }).map((entry) =>
      entry.name === "eth0" ? { ...entry, flags: ["NO-CARRIER", "BROADCAST", "MULTICAST", "UP"] } : entry,
    );
    racks.report("r3", {}, 86_400_000, { interfaces: down });
    expect(serversFor(NETWORK, racks.topology, { ...POLICY, serving: ["r1", "r3"] }).dns).toEqual([
      "10.0.0.9",
      "10.0.0.3",
      "10.0.0.2",
      "10.1.0.1",
    ]);
  });
});

describe("networks and segments", () => {
  it("are proposed from real addresses, never from a /32, and differ by site", () => {
    const racks = new Fleet();
    racks.report("r1", { eth0: ["10.0.0.1/24", "10.0.0.50/32"], docker0: ["172.17.0.1/16"] }, 0);
    racks.report("r2", ["10.0.0.2/24"], 0);
    racks.report("r3", ["10.0.0.1/24"], 0, { site: "south" });
    expect(observedNetworks(racks.topology)).toEqual([
      {
        site: "default",
        prefix: "10.0.0.0/24",
        racks: [
          { rack: "r1", addresses: ["10.0.0.1"] },
          { rack: "r2", addresses: ["10.0.0.2"] },
        ],
      },
      { site: "south", prefix: "10.0.0.0/24", racks: [{ rack: "r3", addresses: ["10.0.0.1"] }] },
    ]);
  });

  it("tell where two racks disagree", () => {
    const racks = new Fleet();
    racks.report("r1", ["10.0.0.1/24"], 0);
    racks.report("r2", ["10.0.0.2/23"], 0);
    racks.report("r3", ["10.0.1.2/24"], 0);
    racks.report("r4", ["10.0.9.2/24", "10.0.0.1/32"], 0);
    expect(discrepancies(racks.topology).map(({ code, subjects, racks: of }) => [code, subjects, of])).toEqual([
      ["prefix-length-differs", ["10.0.0.0/23", "10.0.0.0/24"], ["r1", "r2"]],
      ["prefix-overlaps", ["10.0.0.0/23", "10.0.1.0/24"], ["r2", "r3"]],
      ["class-differs", ["10.0.0.1"], ["r1", "r4"]],
    ]);
  });

  it("join interfaces by prefix and by what neighbours see", () => {
    const mac = (text: string) => parseHardwareAddress(text) ?? fail(text);
    const racks = new Fleet();
    const far = hostWith({ eth0: ["10.7.0.1/24"] }).map((entry) => ({ ...entry, hardwareAddress: mac("02:00:00:00:00:07") }));
    racks.report("r1", { eth0: ["10.0.0.1/24"], eth1: ["10.1.0.1/24"] }, 0, {
      neighbors: [
        { interfaceName: "eth1", address: ipAddress("10.7.0.1"), hardwareAddress: mac("02:00:00:00:00:07"), states: [] },
      ],
    });
    racks.report("r2", { eth0: ["10.0.0.2/24"] }, 0);
    racks.report("r3", {}, 0, { interfaces: far });
    expect(segments(racks.topology)).toEqual([
      {
        site: "default",
        members: [
          { rack: "r1", interfaceName: "eth0" },
          { rack: "r2", interfaceName: "eth0" },
        ],
        prefixes: ["10.0.0.0/24"],
      },
      {
        site: "default",
        members: [
          { rack: "r1", interfaceName: "eth1" },
          { rack: "r3", interfaceName: "eth0" },
        ],
        prefixes: ["10.1.0.0/24", "10.7.0.0/24"],
      },
    ]);
  });
});

function fail(text: string): never {
  throw new Error(`not a hardware address: ${text}`);
}

describe("other views", () => {
  it("207: the configured region address once and first, then one an other coordinator and family", () => {
    const path = fileURLToPath(new URL("../../../../test/fixtures/ha/207-region-url-once-and-first.json", import.meta.url));
    const { given, expect: wanted } = JSON.parse(readFileSync(path, "utf8")) as {
      given: { region_url: string; regions: { name: string; ips: string[] }[] };
      expect: { v4: string[]; v6: string[] };
    };
    const hosts = given.regions.map(({ name, ips }) => ({ name, addresses: ips.map(ipAddress) }));
    const configured = ipAddress(new URL(given.region_url).hostname);
    expect(regionAddresses(hosts, configured)).toEqual([...wanted.v4, ...wanted.v6]);
    expect(regionAddresses(hosts.toReversed(), configured)).toEqual([...wanted.v4, ...wanted.v6]);
    const bridged = hosts.map((host) => ({ ...host, addresses: [ipAddress("10.0.3.1"), ...host.addresses] }));
    expect(regionAddresses(bridged)).not.toContain("10.0.3.1");
  });

  it("a topology is made of racks as the region keeps them, silent ones included", () => {
    const view = (id: string, text: string, more: Partial<RackView> = {}): RackView => ({
      id,
      name: id,
      site: "default",
      joinedAt: 0,
      connected: true,
      lastSeenAt: 1000,
      interfaces: hostWith({ eth0: [text] }),
      interfacesAt: 1000,
      leases: new Map(),
      accepted: 0,
      daemons: [],
      problems: [],
      ...more,
    });
    const failing: DaemonStatus = {
      name: "named",
      state: "failing",
      desired: null,
      written: null,
      running: null,
      generation: null,
      problems: [],
    };
    const views = [view("r2", "10.0.0.2/24", { daemons: [failing] }), view("r1", "10.0.0.1/24", { connected: false })];
    const topology = topologyOf([...views, view("new", "10.0.0.3/24", { interfaces: [], interfacesAt: null })], 5000);
    expect(topology.racks.size).toBe(2);
    expect(topology.racks.get("r1")?.lostAt).toBe(1000);
    expect(serversFor(NETWORK, topology, POLICY).dns).toEqual(["10.0.0.1"]);
  });
});
