import {
  holdersOf,
  ipAddress,
  ipPrefix,
  serversFor,
  topologyProblems,
  type HostInterface,
  type RackView,
  type TopologyEvent,
} from "@berth/core";
import { createFakeClock } from "@berth/host/fakes";
import { describe, expect, it } from "vitest";
import { createTopologyKeeper, type TopologyKeeperPorts } from "./topology-keeper.js";

const START = 1_700_000_000_000;
const VIP = ipAddress("10.0.0.50");

function interfacesWith(...cidrs: readonly string[]): readonly HostInterface[] {
  const addresses = cidrs.map((cidr) => ({
    address: ipAddress(cidr.split("/")[0] ?? ""),
    prefixLength: Number(cidr.split("/")[1]),
    ...{ peer: null, broadcast: null, scope: "global", label: null, flags: [], protocol: null },
    ...{ validLifetime: null, preferredLifetime: null },
  }));
  const link = { index: 2, parent: null, kind: null, vlanId: null, hardwareAddress: null, permanentAddress: null, mtu: 1500 };
  return [{ name: "eth0", ...link, flags: ["UP", "LOWER_UP"], addresses }];
}

/** The registry as far as the keeper sees it. */
class Racks {
  readonly #views = new Map<string, RackView>();
  #listener: ((id: string) => void) | null = null;

  put(id: string, change: Partial<RackView>): void {
    const fresh: RackView = {
      ...{ id, name: id, site: "default", joinedAt: 0, connected: true, lastSeenAt: START, interfaces: [], interfacesAt: START },
      ...{ leases: new Map(), accepted: 0, daemons: [], problems: [] },
    };
    this.#views.set(id, { ...(this.#views.get(id) ?? fresh), ...change });
    this.#listener?.(id);
  }

  remove(id: string): void {
    this.#views.delete(id);
    this.#listener?.(id);
  }

  readonly port: TopologyKeeperPorts["racks"] = {
    views: () => [...this.#views.values()],
    view: (id) => this.#views.get(id) ?? null,
    onChange: (listener) => {
      this.#listener = listener;
      return () => (this.#listener = null);
    },
  };
}

function region(racks: Racks, more: Partial<TopologyKeeperPorts> = {}) {
  const clock = createFakeClock(START);
  const keeper = createTopologyKeeper({ racks: racks.port, clock, ...more });
  const events: TopologyEvent[] = [];
  keeper.onEvent((event) => events.push(event));
  const holders = () => holdersOf(keeper.topology(), "default", VIP).map(({ rack }) => rack);
  const problems = () => topologyProblems(keeper.topology()).map(({ code }) => code);
  const dns = () =>
    serversFor({ prefix: ipPrefix("10.0.0.0/24"), site: "default" }, keeper.topology(), {
      ...{ serving: [], dns: null, ntp: null, upstreamNtp: [] },
    }).dns;
  return { clock, keeper, events, holders, problems, dns };
}

describe("the kept topology", () => {
  it("sees a VIP with the subnet's own mask move, and tells it once", async () => {
    const racks = new Racks();
    racks.put("r1", { interfaces: interfacesWith("10.0.0.1/24", "10.0.0.50/24") });
    const it = region(racks);
    racks.put("r2", { interfaces: interfacesWith("10.0.0.2/24") });
    await it.clock.advance(1000);
    racks.put("r1", { interfaces: interfacesWith("10.0.0.1/24") });
    await it.clock.advance(700);
    racks.put("r2", { interfaces: interfacesWith("10.0.0.2/24", "10.0.0.50/24") });
    racks.put("r2", { accepted: 7 });
    expect(it.holders()).toEqual(["r2"]);
    expect(it.dns()).toEqual(["10.0.0.1", "10.0.0.2"]);
    expect(it.events).toEqual([
      { type: "vip-moved", site: "default", address: VIP, from: "r1", to: "r2", at: START + 1700, proves: true },
    ]);
    const restarted = region(racks, { moves: it.events.flatMap((event) => (event.type === "vip-moved" ? [event] : [])) });
    expect(restarted.dns()).toEqual(["10.0.0.1", "10.0.0.2"]);
    expect(restarted.events).toEqual([]);
  });

  it("lets silent racks grow stale by a clock that nobody can step, and keeps their addresses", async () => {
    const racks = new Racks();
    racks.put("r1", { interfaces: interfacesWith("10.0.0.1/24") });
    const it = region(racks);
    racks.put("r1", { connected: false });
    it.clock.step(86_400_000);
    expect(it.problems()).toEqual([]);
    await it.clock.advance(60_000);
    expect(it.problems()).toEqual(["rack-stale"]);
    expect(it.dns()).toEqual(["10.0.0.1"]);
    racks.put("r1", { connected: true });
    expect(it.problems()).toEqual([]);
    racks.remove("r1");
    expect(it.dns()).toEqual([]);
  });

  it("takes in what the region learns, and follows no more once closed", () => {
    const racks = new Racks();
    racks.put("r1", { interfaces: interfacesWith("10.0.0.1/24", "10.0.0.3/24") });
    const it = region(racks, { knowledge: { vips: new Set([ipAddress("10.0.0.1")]) } });
    expect(it.dns()).toEqual(["10.0.0.3"]);
    it.keeper.know({ vips: new Set() });
    expect(it.dns()).toEqual(["10.0.0.1"]);
    it.keeper.close();
    racks.remove("r1");
    expect(it.dns()).toEqual(["10.0.0.1"]);
  });
});
