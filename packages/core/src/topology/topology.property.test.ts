import { fc, test as property } from "@fast-check/vitest";
import { describe, expect } from "vitest";
import { ipPrefix } from "../address/prefix.js";
import { observedNetworks } from "./networks.js";
import { Fleet, hostWith } from "../../../../test/support/fleet.js";
import { rackVerdicts } from "./fleet-verdict.js";
import { virtualAddresses } from "./holders.js";
import { mergeReport } from "./merge.js";
import { segments } from "./segments.js";
import { serversFor } from "./servers-for.js";
import { topologyProblems } from "./topology-problems.js";
import { advanceTopology, emptyTopology, type RackReport, type Topology } from "./topology.js";

const RACKS = ["r1", "r2", "r3", "r4"] as const;
const NETWORKS = [ipPrefix("10.0.0.0/24"), ipPrefix("10.1.0.0/24"), ipPrefix("2001:db8::/64")];
const POLICY = { serving: ["r2", "r1"], dns: null, ntp: null, upstreamNtp: [] };

const address = fc
  .tuple(
    fc.constantFrom("10.0.0", "10.1.0", "2001:db8::"),
    fc.integer({ min: 1, max: 6 }),
    fc.constantFrom("network", "single"),
    fc.constantFrom("", " secondary", " deprecated", " dynamic"),
  )
  .map(([network, host, width, flag]) =>
    network.includes(":")
      ? `${network}${host}/${width === "network" ? 64 : 128}${flag}`
      : `${network}.${host}/${width === "network" ? 24 : 32}${flag}`,
  );
const interfaces = fc.dictionary(fc.constantFrom("eth0", "eth1", "lo", "vrrp.7"), fc.uniqueArray(address, { maxLength: 4 }), {
  maxKeys: 3,
});
const reports = fc.tuple(...RACKS.map(() => interfaces)).map((hosts) =>
  hosts.map((own, i): RackReport => {
    const rack = RACKS[i] ?? "r0";
    return { rack, name: rack, site: "default", session: 1, sequence: 1, interfaces: hostWith(own) };
  }),
);

function merged(all: readonly RackReport[], topology: Topology = emptyTopology(), now = 1000): Topology {
  return all.reduce((known, report) => mergeReport(known, report, now).topology, topology);
}

/** All that anybody can ask of a topology. */
function view(topology: Topology): unknown {
  const later = advanceTopology(topology, 100_000);
  return {
    verdicts: [...later.racks.values()].map((facts) => [facts.report.rack, rackVerdicts(later, facts)]),
    servers: NETWORKS.map((prefix) => serversFor({ prefix, site: "default" }, later, POLICY)),
    problems: topologyProblems(later),
    virtual: virtualAddresses(later),
    networks: observedNetworks(later),
    segments: segments(later),
  };
}

describe("any fleet", () => {
  property.prop([reports, fc.array(fc.nat(), { minLength: RACKS.length, maxLength: RACKS.length })])(
    "is the same whatever the order of its reports",
    (all, places) => {
      const order = all.map((report, i) => ({ report, place: places[i] ?? 0 })).sort((a, b) => a.place - b.place);
      expect(view(merged(order.map(({ report }) => report)))).toEqual(view(merged(all)));
    },
  );

  property.prop([reports])("is the same when every rack says the same again", (all) => {
    const once = merged(all);
    const again = all.map((report) => ({ ...report, sequence: 2 }));
    expect(view(merged(again, once))).toEqual(view(once));
  });

  property.prop([reports])("gives the same lists when interfaces and addresses come in another order", (all) => {
    const shuffled = all.map((report) => ({ ...report, interfaces: report.interfaces.toReversed() }));
    const lists = (topology: Topology) => NETWORKS.map((prefix) => serversFor({ prefix, site: "default" }, topology, POLICY));
    expect(lists(merged(shuffled))).toEqual(lists(merged(all)));
  });

  property.prop([reports, reports])(
    "never loses a server of a network because of an empty report or a verdict",
    (before, after) => {
      const known = merged(before);
      const next = merged(
        after.map((report) => ({ ...report, sequence: 2 })),
        known,
        5000,
      );
      for (const topology of [known, next, advanceTopology(next, 60_000)]) {
        const empty = RACKS.map((rack) => ({ rack, name: rack, site: "default", session: 2, sequence: 9, interfaces: [] }));
        expect(view(merged(empty, topology, topology.at))).toEqual(view(topology));
        for (const prefix of NETWORKS) {
          const family = prefix.includes(":");
          const candidates = [...topology.racks.values()].some(({ held }) =>
            [...held.keys()].some((own) => own.includes(":") === family),
          );
          if (candidates) expect(serversFor({ prefix, site: "default" }, topology, POLICY).dns).not.toEqual([]);
        }
      }
    },
  );

  property.prop([fc.array(fc.tuple(fc.constantFrom(...RACKS), interfaces, fc.nat(20_000)), { maxLength: 30 })])(
    "keeps its indexes true over any history",
    (history) => {
      const fleet = new Fleet();
      let now = 0;
      for (const [rack, own, later] of history) {
        now += later;
        fleet.report(rack, own, now);
      }
      const holders = new Map<string, string[]>();
      for (const facts of fleet.topology.racks.values())
        for (const own of facts.held.keys()) holders.set(own, [...(holders.get(own) ?? []), facts.report.rack].sort());
      const indexed = [...fleet.topology.addresses.values()].filter((facts) => facts.holders.length > 0);
      expect(new Map(indexed.map((facts) => [facts.address, facts.holders]))).toEqual(holders);
      expect(fleet.topology.shared.size).toBe([...holders.values()].filter((of) => of.length > 1).length);
    },
  );
});
