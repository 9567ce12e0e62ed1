import { describe, expect, it } from "vitest";
import { interfaceOf } from "../../../../test/fixtures/alloc/build.js";
import { ipAddress } from "../address/ip.js";
import { noteConnection } from "./connection.js";
import { isVirtualAnywhere, keptAddresses, keptHolder } from "./kept-addresses.js";
import { mergeReport } from "./merge.js";
import { nextChange } from "./next-change.js";
import { restoreRack, restoreTopology, storeRack } from "./stored-topology.js";
import { advanceTopology, emptyTopology, TOPOLOGY_TIMES, type RackReport, type Topology } from "./topology.js";

const DAY = 86_400_000;
let sequence = 0;

function reportOf(rack: string, ...addresses: readonly string[]): RackReport {
  sequence += 1;
  return { rack, name: rack, site: "s", session: 0, sequence, interfaces: [interfaceOf("eth0", ...addresses)] };
}

function region(...steps: readonly (readonly [at: number, rack: string, ...addresses: readonly string[]])[]): Topology {
  return steps.reduce(
    (topology, [at, rack, ...own]) => mergeReport(topology, reportOf(rack, ...own), at).topology,
    emptyTopology(),
  );
}

describe("an address that left a rack", () => {
  it("is kept for the time of a move; a virtual one for thirty days", () => {
    const topology = region([1000, "r1", "10.0.0.1/24", "10.0.0.7/24", "10.0.0.9/32"], [5000, "r1", "10.0.0.1/24"]);
    expect(keptAddresses(topology, "other")).toEqual([]);
    const kept = new Map(keptAddresses(topology, "s").map(({ address, until }) => [address as string, until]));
    expect(Object.fromEntries(kept)).toEqual({ "10.0.0.1": null, "10.0.0.7": 605_000, "10.0.0.9": 5000 + 30 * DAY });
    const later = advanceTopology(topology, 605_000);
    expect(
      keptAddresses(later, "s")
        .map(({ address }) => address)
        .sort(),
    ).toEqual(["10.0.0.1", "10.0.0.9"]);
    expect(keptHolder(later, "s", ipAddress("10.0.0.7"))).toBeNull();
    expect(keptHolder(later, "s", ipAddress("10.0.0.9"))).toMatchObject({ until: 5000 + 30 * DAY });
    expect(["10.0.0.1", "10.0.0.9"].map((text) => isVirtualAnywhere(later, ipAddress(text)))).toEqual([false, true]);
    expect(keptAddresses(advanceTopology(topology, 31 * DAY), "s")).toHaveLength(1);
  });
});

it("an anycast address that all racks withdrew is kept like any virtual one, and no move is told of it", () => {
  const report = (rack: string, ...anycast: readonly string[]): RackReport => {
    const plain = reportOf(rack, `10.0.0.${rack === "r1" ? 1 : 2}/24`);
    return {
      ...plain,
      interfaces: [...plain.interfaces, { ...interfaceOf("lo", ...anycast), flags: ["LOOPBACK", "UP", "LOWER_UP"] }],
    };
  };
  const address = ipAddress("10.0.0.21");
  const steps = [report("r1", "10.0.0.21/32"), report("r2", "10.0.0.21/32"), report("r1"), report("r2")];
  const topology = steps.reduce((region, step, i) => mergeReport(region, step, (i + 1) * 20_000).topology, emptyTopology());
  expect(keptHolder(topology, "s", address)).toMatchObject({ until: 80_000 + 30 * DAY });
  const back = mergeReport(topology, report("r2", "10.0.0.21/32"), 100_000).topology;
  expect(keptHolder(back, "s", address)).toMatchObject({ until: null });
  expect([...back.addresses.values()].flatMap(({ moves }) => moves)).toEqual([]);
});

it("an address that the configuration calls virtual is kept in every site, whoever has it", () => {
  const topology = mergeReport(
    emptyTopology({ vips: new Set([ipAddress("10.0.0.99")]) }),
    reportOf("r1", "10.0.0.1/24"),
    1000,
  ).topology;
  const kept = (site: string) => keptAddresses(topology, site).map(({ address }) => address);
  expect([kept("s"), kept("other")]).toEqual([["10.0.0.1", "10.0.0.99"], ["10.0.0.99"]]);
});

describe("the next change by time", () => {
  it("is none where all is settled", () => {
    expect(nextChange(region([1000, "r1", "10.0.0.1/24"]))).toBeNull();
  });

  it("is when a class settles", () => {
    const topology = region([1000, "r1", "10.0.0.9/32"], [5000, "r1", "10.0.0.1/24", "10.0.0.9/32"]);
    expect(nextChange(topology)).toBe(7000);
    expect(nextChange(advanceTopology(topology, 7000))).toBeNull();
  });

  it("is when two holders are there for longer than a failover", () => {
    const topology = region([1000, "r1", "10.0.0.1/24", "10.0.0.9/32"], [2000, "r2", "10.0.0.2/24", "10.0.0.9/32"]);
    expect(nextChange(topology)).toBe(12_000);
    expect(nextChange(advanceTopology(topology, 12_000))).toBeNull();
  });

  it("is when a silent rack grows stale", () => {
    const lost = noteConnection(region([1000, "r1", "10.0.0.1/24"]), { rack: "r1", connected: false }, 3000).topology;
    expect(nextChange(lost)).toBe(63_000);
  });
});

describe("a stored topology", () => {
  const restart = { times: TOPOLOGY_TIMES, lastAt: 9000, now: 500_000 };

  it("comes back as it was, with nobody vouching for it since it was last looked at", () => {
    const before = region([1000, "r1", "10.0.0.1/24", "10.0.0.9/32"], [2000, "r2", "10.0.0.2/24"]);
    const stored = JSON.parse(JSON.stringify([...before.racks.values()].map(storeRack))) as ReturnType<typeof storeRack>[];
    const racks = stored.flatMap(
      (entry) => restoreRack(entry, before.racks.get(entry.rack)?.report ?? reportOf(""), restart) ?? [],
    );
    const after = restoreTopology(emptyTopology(), { racks, addresses: [...before.addresses.values()] }, restart.now);
    expect(after.racks.get("r1")).toEqual({ ...before.racks.get("r1"), lostAt: 500_000, gapFrom: 9000 });
    expect([...after.addresses.entries()]).toEqual([...before.addresses.entries()]);
  });

  it("is no use for another report than it was made from", () => {
    const [facts] = [...region([1000, "r1", "10.0.0.1/24"]).racks.values()];
    if (facts === undefined) throw new Error("no rack");
    expect(restoreRack(storeRack(facts), reportOf("r1", "10.0.0.2/24"), restart)).toBeNull();
    expect(restoreRack(storeRack(facts), reportOf("r1", "10.0.0.1/24", "10.0.0.2/24"), restart)).toBeNull();
  });

  it("drops holders that did not come back with it", () => {
    const { addresses } = region([1000, "r1", "10.0.0.1/24"]);
    const after = restoreTopology(emptyTopology(), { racks: [], addresses: [...addresses.values()] }, 2000);
    expect([...after.addresses.values()].map(({ holders }) => holders)).toEqual([[]]);
  });
});
