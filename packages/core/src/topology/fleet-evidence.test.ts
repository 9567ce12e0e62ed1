import { describe, expect, it } from "vitest";
import { ipAddress } from "../address/ip.js";
import { ipPrefix } from "../address/prefix.js";
import { mergeByAddress } from "../interface/verdict.js";
import { noteConnection, noteKnowledge, recallMoves } from "./connection.js";
import { addresses, Fleet } from "../../../../test/support/fleet.js";
import { rackVerdicts } from "./fleet-verdict.js";
import { holdersOf, virtualAddresses } from "./holders.js";
import { removeRack } from "./merge.js";
import { serversFor } from "./servers-for.js";
import { topologyProblems } from "./topology-problems.js";
import { advanceTopology, emptyTopology, type Topology } from "./topology.js";

function verdict(topology: Topology, rack: string, text: string) {
  const facts = topology.racks.get(rack);
  const found = facts === undefined ? undefined : mergeByAddress(rackVerdicts(topology, facts)).get(ipAddress(text));
  return { class: found?.class, confidence: found?.confidence, step: found?.step };
}

const at = (topology: Topology, now: number): Topology => advanceTopology(topology, now);
const codes = (topology: Topology): readonly string[] => topologyProblems(topology).map(({ code }) => code);
const dns = (topology: Topology): readonly string[] =>
  serversFor({ prefix: ipPrefix("10.0.0.0/24"), site: "default" }, topology, {
    serving: [],
    dns: null,
    ntp: null,
    upstreamNtp: [],
  }).dns;

/** Two racks of which r1 also holds .50, with the subnet's own mask: nothing on one host tells that it is virtual. */
function masked(): Fleet {
  const fleet = new Fleet();
  fleet.report("r1", ["10.0.0.1/24", "10.0.0.50/24"], 0);
  fleet.report("r2", ["10.0.0.2/24"], 0);
  return fleet;
}

describe("a VIP with the subnet's own mask", () => {
  it("is taken for real until it moves", () => {
    const fleet = masked();
    expect(verdict(fleet.topology, "r1", "10.0.0.50")).toMatchObject({ class: "real", confidence: 0.85 });
    fleet.report("r1", ["10.0.0.1/24"], 5000);
    fleet.report("r2", ["10.0.0.2/24", "10.0.0.50/24"], 6000);
    expect(verdict(fleet.topology, "r2", "10.0.0.50")).toEqual({ class: "vip", confidence: 0.95, step: 0 });
    expect(dns(fleet.topology)).toEqual(["10.0.0.1", "10.0.0.2"]);
    expect(fleet.events).toEqual([
      { type: "vip-moved", site: "default", address: "10.0.0.50", from: "r1", to: "r2", at: 6000, proves: true },
    ]);
  });

  it("is known for virtual on whichever rack it comes to later", () => {
    const fleet = masked();
    fleet.report("r1", ["10.0.0.1/24"], 5000);
    fleet.report("r2", ["10.0.0.2/24", "10.0.0.50/24"], 6000);
    fleet.report("r2", ["10.0.0.2/24"], 9_000_000);
    fleet.report("r3", ["10.0.0.3/24", "10.0.0.50/24"], 20_000_000);
    expect(verdict(fleet.topology, "r3", "10.0.0.50").class).toBe("vip");
    expect(fleet.events.map((event) => (event.type === "vip-moved" ? [event.from, event.to] : []))).toEqual([
      ["r1", "r2"],
      ["r2", "r3"],
    ]);
  });

  it("is recognised when the second has it before the first let go", () => {
    const fleet = masked();
    fleet.report("r2", ["10.0.0.2/24", "10.0.0.50/24"], 5000);
    fleet.report("r1", ["10.0.0.1/24"], 5400);
    expect(verdict(fleet.topology, "r2", "10.0.0.50").class).toBe("vip");
  });

  it("is recognised when its first holder died and comes back without", () => {
    const fleet = masked();
    fleet.topology = noteConnection(fleet.topology, { rack: "r1", connected: false }, 5000).topology;
    fleet.report("r2", ["10.0.0.2/24", "10.0.0.50/24"], 6000);
    fleet.topology = noteConnection(fleet.topology, { rack: "r1", connected: true }, 3_600_000).topology;
    fleet.report("r1", ["10.0.0.1/24"], 3_600_100);
    expect(verdict(fleet.topology, "r2", "10.0.0.50").class).toBe("vip");
  });

  it("is recognised when it moves long after its holder's connection was lost and came back, with nothing to report", () => {
    const fleet = masked();
    fleet.topology = noteConnection(fleet.topology, { rack: "r1", connected: false }, 5000).topology;
    fleet.topology = noteConnection(fleet.topology, { rack: "r1", connected: true }, 9000).topology;
    fleet.report("r1", ["10.0.0.1/24"], 7_200_000);
    fleet.report("r2", ["10.0.0.2/24", "10.0.0.50/24"], 7_201_000);
    expect(verdict(fleet.topology, "r2", "10.0.0.50").class).toBe("vip");
  });

  it("is not forgotten when the rack that has it is removed", () => {
    const fleet = masked();
    fleet.report("r1", ["10.0.0.1/24"], 5000);
    fleet.report("r2", ["10.0.0.2/24", "10.0.0.50/24"], 6000);
    fleet.topology = removeRack(fleet.topology, "r2", 7000);
    fleet.report("r9", ["10.0.0.9/24", "10.0.0.50/24"], 8_000_000);
    expect(verdict(fleet.topology, "r9", "10.0.0.50").class).toBe("vip");
  });

  it("is not forgotten over a restart of the region", () => {
    const fleet = masked();
    fleet.report("r1", ["10.0.0.1/24"], 5000);
    fleet.report("r2", ["10.0.0.2/24", "10.0.0.50/24"], 6000);
    const again = new Fleet();
    again.topology = recallMoves(
      emptyTopology(),
      fleet.events.flatMap((event) => (event.type === "vip-moved" ? [event] : [])),
    );
    again.report("r2", ["10.0.0.2/24", "10.0.0.50/24"], 0);
    expect(verdict(again.topology, "r2", "10.0.0.50").class).toBe("vip");
    expect(virtualAddresses(again.topology)[0]?.moves).toHaveLength(1);
  });

  it("is virtual everywhere as soon as one rack says so, where the others are unsure", () => {
    const fleet = new Fleet();
    fleet.report("r1", ["10.0.0.1/24", "10.0.0.50/24 secondary"], 0);
    expect(verdict(fleet.topology, "r1", "10.0.0.50")).toMatchObject({ class: "real", confidence: 0.6 });
    fleet.report("r2", ["10.0.0.2/24", "10.0.0.50/32"], 0);
    expect(verdict(fleet.topology, "r1", "10.0.0.50")).toMatchObject({ class: "vip", confidence: 0.9 });
  });
});

describe("an address that is given anew is no VIP", () => {
  it("when the next host gets it long after it was given up", () => {
    const fleet = masked();
    fleet.report("r1", ["10.0.0.1/24"], 5000);
    fleet.report("r2", ["10.0.0.2/24", "10.0.0.50/24"], 5000 + 3_600_000);
    expect(verdict(fleet.topology, "r2", "10.0.0.50").class).toBe("real");
    expect(fleet.events).toEqual([]);
  });

  it("when a lease goes from host to host", () => {
    const fleet = new Fleet();
    fleet.report("r1", ["10.0.0.1/24", "10.0.0.50/24 dynamic"], 0);
    fleet.report("r1", ["10.0.0.1/24"], 5000);
    fleet.report("r2", ["10.0.0.50/24 dynamic"], 6000);
    expect(verdict(fleet.topology, "r2", "10.0.0.50").class).toBe("real");
    expect(fleet.events).toEqual([]);
  });

  it("when a replacement takes a dead rack's address", () => {
    const fleet = masked();
    fleet.topology = noteConnection(fleet.topology, { rack: "r1", connected: false }, 5000).topology;
    fleet.report("r9", ["10.0.0.1/24"], 100_000);
    expect(verdict(fleet.topology, "r9", "10.0.0.1").class).toBe("real");
    expect(holdersOf(fleet.topology, "default", ipAddress("10.0.0.1")).map(({ rack }) => rack)).toEqual(["r9"]);
    expect(codes(fleet.topology)).toEqual(["rack-stale"]);
    expect(dns(fleet.topology)).toEqual(["10.0.0.1", "10.0.0.2"]);
  });

  it("when configuration says whose it is", () => {
    const fleet = new Fleet({ real: addresses("10.0.0.50") });
    fleet.report("r1", ["10.0.0.1/24", "10.0.0.50/24"], 0);
    fleet.report("r1", ["10.0.0.1/24"], 5000);
    fleet.report("r2", ["10.0.0.2/24", "10.0.0.50/24"], 6000);
    expect(verdict(fleet.topology, "r2", "10.0.0.50")).toEqual({ class: "real", confidence: 1, step: 1 });
  });
});

describe("a VIP manager that grabs a peer's real address", () => {
  function hijacked(): Fleet {
    const fleet = new Fleet();
    fleet.report("r1", ["10.0.0.1/24"], 0);
    fleet.report("r2", ["10.0.0.2/24"], 0);
    fleet.report("r2", ["10.0.0.2/24", "10.0.0.1/32"], 1000);
    return fleet;
  }

  it("does not make it virtual for its owner, and is told", () => {
    const { topology } = hijacked();
    expect(verdict(topology, "r1", "10.0.0.1").class).toBe("real");
    expect(verdict(topology, "r2", "10.0.0.1").class).toBe("vip");
    expect(dns(topology)).toEqual(["10.0.0.1", "10.0.0.2"]);
    expect(codes(topology)).toEqual(["real-address-claimed"]);
  });

  it("nor when the owner gives way for a while, later than a failover would take", () => {
    const fleet = hijacked();
    fleet.report("r1", ["10.0.0.77/24"], 60_000);
    fleet.report("r2", ["10.0.0.2/24"], 70_000);
    fleet.report("r1", ["10.0.0.1/24"], 80_000);
    expect(verdict(fleet.topology, "r1", "10.0.0.1").class).toBe("real");
  });
});

describe("two holders of a VIP", () => {
  function split(): Fleet {
    const fleet = new Fleet();
    fleet.report("r1", ["10.0.0.1/24", "10.0.0.50/32"], 0);
    fleet.report("r2", ["10.0.0.2/24", "10.0.0.50/32"], 50_000);
    return fleet;
  }

  it("are a failover at first and a split brain when it lasts", () => {
    const { topology } = split();
    expect(codes(at(topology, 59_999))).toEqual([]);
    expect(topologyProblems(at(topology, 60_000))).toMatchObject([{ code: "vip-split-brain", at: "default 10.0.0.50" }]);
    expect(dns(at(topology, 60_000))).toEqual(["10.0.0.1", "10.0.0.2"]);
  });

  it("are no split brain once one has let go, or cannot be asked", () => {
    const fleet = split();
    const lost = noteConnection(fleet.topology, { rack: "r1", connected: false }, 55_000);
    expect(codes(at(lost.topology, 65_000))).toEqual([]);
    expect(lost.events).toMatchObject([{ type: "vip-moved", from: "r1", to: "r2", at: 55_000 }]);
    fleet.report("r1", ["10.0.0.1/24"], 100_000);
    expect(codes(at(fleet.topology, 200_000))).toEqual([]);
    expect(fleet.events).toMatchObject([{ type: "vip-moved", from: "r1", to: "r2", at: 100_000, proves: false }]);
  });
});

describe("what else changes a class", () => {
  it("a scan amid a reconfiguration does not", () => {
    const fleet = new Fleet();
    fleet.report("r1", ["10.0.0.1/24", "10.0.0.50/32"], 0);
    fleet.report("r1", ["10.0.0.50/32"], 1000);
    expect(verdict(fleet.topology, "r1", "10.0.0.50").class).toBe("vip");
    fleet.report("r1", ["10.0.0.1/24", "10.0.0.50/32"], 1500);
    expect(verdict(at(fleet.topology, 9000), "r1", "10.0.0.50").class).toBe("vip");
  });

  it("the ledger does, at once, and on the racks concerned only", () => {
    const fleet = masked();
    const untouched = fleet.topology.racks.get("r2");
    const ledgerVips = addresses("10.0.0.50");
    const { topology } = noteKnowledge(fleet.topology, { ...fleet.topology.knowledge, ledgerVips }, 10);
    expect(verdict(topology, "r1", "10.0.0.50")).toEqual({ class: "vip", confidence: 1, step: 1 });
    expect(topology.racks.get("r2")).toBe(untouched);
    const back = noteKnowledge(topology, fleet.topology.knowledge, 20).topology;
    expect(verdict(back, "r1", "10.0.0.50").class).toBe("real");
  });

  it("a removed rack leaves nothing behind", () => {
    const fleet = masked();
    const one = removeRack(fleet.topology, "r1", 1);
    expect([...one.addresses.values()].map(({ address }) => address)).toEqual(["10.0.0.2"]);
    expect(removeRack(one, "r2", 2).addresses.size).toBe(0);
  });

  it("a rack whose addresses churn leaves a bounded trail", () => {
    const fleet = new Fleet();
    for (let i = 0; i < 500; i++) fleet.report("r1", ["10.0.0.1/24", `10.1.${i >> 8}.${i & 255}/16`], i);
    expect(fleet.topology.addresses.size).toBeLessThan(80);
  });
});
