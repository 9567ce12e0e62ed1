import { ipAddress, topologyProblems, virtualAddresses, type HostInterface, type IpAddress, type RackView } from "@berth/core";
import { createLog, EnvironmentError } from "@berth/host";
import { createFakeClock, type FakeClock } from "@berth/host/fakes";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { interfaceOf, nic, NOON, rackOf } from "../../../../test/fixtures/alloc/build.js";
import type { Ledger } from "../ledger/ledger.js";
import { openLedger } from "../ledger/open-ledger.js";
import { createPlanner, type Planner } from "../plan/planner.js";
import { createMemoryStore, MemoryDisk } from "../store/memory-store.js";
import { createTopologyKeeper, type TopologyKeeper } from "./topology-keeper.js";

const VIP = "192.168.50.50";
const OWN = { r1: "192.168.50.11/24", r2: "192.168.50.12/24" } as const;

/** A coordinator's inside without its network: racks say what the test lets them say. */
class Region {
  readonly views = new Map<string, RackView>();
  readonly addresses: { real: IpAddress[]; vips: IpAddress[] } = { real: [], vips: [] };
  readonly lines: string[] = [];
  ledger!: Ledger;
  keeper!: TopologyKeeper;
  planner!: Planner;
  #listeners: ((id: string) => void)[] = [];
  #stop = new AbortController();
  #running: Promise<unknown> = Promise.resolve();
  readonly #disk: MemoryDisk;
  readonly #clock: FakeClock;

  constructor(disk: MemoryDisk, clock: FakeClock) {
    this.#disk = disk;
    this.#clock = clock;
  }

  async start(): Promise<void> {
    const store = createMemoryStore(this.#disk);
    const ports = { clock: this.#clock, log: createLog({ level: "info", write: (line) => this.lines.push(line) }), store };
    this.#listeners = [];
    this.#stop = new AbortController();
    const racks = (): readonly RackView[] => [...this.views.values()];
    const registry = {
      views: racks,
      view: (id: string) => this.views.get(id) ?? null,
      onChange: (listener: (id: string) => void) => {
        this.#listeners.push(listener);
        return () => undefined;
      },
    };
    const ledger = await openLedger({ ...ports, racks, kept: (site, address) => this.keeper.holder(site, address) });
    this.ledger = ledger;
    this.keeper = await createTopologyKeeper({ ...ports, registry, ledger, addresses: this.addresses });
    const topology = () => this.keeper.current();
    const policy = { forwarders: [], mailbox: null, ntpUpstreams: [] };
    this.planner = await createPlanner({ ...ports, ledger, racks, policy, topology });
    this.#running = Promise.all([this.keeper.run(this.#stop.signal), this.planner.run(this.#stop.signal)]);
    if (ledger.subnets().length === 0) {
      const window = { first: ipAddress("192.168.50.40"), last: ipAddress("192.168.50.60") };
      await ledger.createSubnet({ prefix: "192.168.50.0/24", domain: "rack.example", mode: "window", window });
    }
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    for (const [id, view] of this.views) this.views.set(id, { ...view, connected: false });
  }

  report(name: string, ...addresses: readonly string[]): void {
    this.say(name, { interfaces: [interfaceOf("eth0", ...addresses)], connected: true });
  }

  say(name: string, change: Partial<RackView>): void {
    const known = this.views.get(`id-${name}`) ?? rackOf(name, []);
    this.views.set(`id-${name}`, { ...known, ...change });
    for (const listener of this.#listeners) listener(`id-${name}`);
  }

  remove(name: string): void {
    this.views.delete(`id-${name}`);
    for (const listener of this.#listeners) listener(`id-${name}`);
  }

  /** `rack1` or `rack1+rack2` for each virtual address. */
  holders(): Record<string, string> {
    const vips = virtualAddresses(this.keeper.current());
    return Object.fromEntries(vips.map(({ address, holders }) => [address, holders.map(({ name }) => name).join("+")]));
  }

  problems(): readonly string[] {
    return topologyProblems(this.keeper.current()).map(({ code, at }) => `${code} ${at}`);
  }
}

let disk: MemoryDisk;
let clock: FakeClock;
let region: Region;
beforeEach(async () => {
  disk = new MemoryDisk();
  clock = createFakeClock(NOON);
  region = new Region(disk, clock);
  await region.start();
  region.report("r1", OWN.r1, `${VIP}/32`);
  region.report("r2", OWN.r2);
  await clock.advance(1000);
});
afterEach(() => region.stop());

const EVERY_MOVE = { address: null, after: null, limit: 10 } as const;
const moves = async (): Promise<readonly string[]> =>
  (await createMemoryStore(disk).topology.moves(EVERY_MOVE)).map(({ address, from, to }) => `${address} ${from} ${to}`);

async function moveTo(to: "r1" | "r2"): Promise<void> {
  const from = to === "r1" ? "r2" : "r1";
  region.report(from, OWN[from]);
  await clock.advance(700);
  region.report(to, OWN[to], `${VIP}/32`);
  await clock.advance(3000);
}

describe("a virtual address", () => {
  it("moves without a change of any desired state", async () => {
    await clock.advance(3000);
    const before = ["id-r1", "id-r2"].map((id) => region.planner.desiredFor(id));
    expect(before.flatMap((state) => state?.subnets[0]?.excluded)).toEqual([VIP]);
    expect(before[0]?.subnets[0]?.dns).toEqual(["192.168.50.11", "192.168.50.12"]);
    await moveTo("r2");
    await moveTo("r1");
    await moveTo("r2");
    expect(region.holders()).toEqual({ [VIP]: "r2" });
    await region.planner.settled();
    expect(["id-r1", "id-r2"].map((id) => region.planner.desiredFor(id))).toEqual(before);
    expect(await moves()).toEqual([`${VIP} r1 r2`, `${VIP} r2 r1`, `${VIP} r1 r2`]);
  });

  it("is given to nobody while it is between two racks", async () => {
    region.report("r1", OWN.r1, "192.168.50.70/32", `${VIP}/32`);
    region.report("r1", OWN.r1);
    const refused = await region.ledger.enroll({ nics: [nic(1)], subnet: "1", address: ipAddress("192.168.50.70") });
    expect(refused).toMatchObject({ ok: false, problems: [{ code: "address-held-by-rack" }] });
    const free = await region.ledger.enroll({ nics: [nic(1)], subnet: "1", address: ipAddress("192.168.50.71") });
    expect(free.ok).toBe(true);
    expect(region.keeper.holder("default", ipAddress(VIP))).toMatchObject({ code: "held-by-rack" });
    expect(region.keeper.holder("default", ipAddress("192.168.50.77"))).toBeNull();
    expect(region.keeper.holder("elsewhere", ipAddress(VIP))).toBeNull();
  });

  it("on two racks for longer than a failover is a problem, told without another report", async () => {
    let told = 0;
    region.report("r2", OWN.r2, `${VIP}/32`);
    region.keeper.onChange(() => (told += 1));
    await clock.advance(9000);
    expect([region.problems(), told]).toEqual([[], 0]);
    await clock.advance(2000);
    expect(region.problems()).toEqual([`vip-split-brain default ${VIP}`]);
    expect(told).toBeGreaterThan(0);
  });

  it("is what the configuration says it is, before any rack shows it", async () => {
    await region.stop();
    region.addresses.vips.push(ipAddress("192.168.50.99"));
    region.addresses.real.push(ipAddress(VIP));
    await region.start();
    region.report("r1", OWN.r1, `${VIP}/32`);
    region.report("r2", OWN.r2, "192.168.50.99/24");
    expect(region.holders()).toEqual({ "192.168.50.99": "r2" });
    expect(region.keeper.holder("default", ipAddress("192.168.50.99"))?.text).toContain("addresses.vips");
  });
});

describe("a restart", () => {
  async function restart(downMs: number): Promise<void> {
    await region.stop();
    await clock.advance(downMs);
    region = Object.assign(new Region(disk, clock), { views: region.views });
    await region.start();
  }

  it("forgets neither moves, holders, since when, nor what proved an address virtual", async () => {
    const masked = "192.168.50.51/24";
    region.report("r1", OWN.r1, masked);
    await clock.advance(3000);
    region.report("r1", OWN.r1);
    region.report("r2", OWN.r2, masked);
    await clock.advance(3000);
    const before = virtualAddresses(region.keeper.current());
    expect(before.find(({ address }) => address === "192.168.50.51")?.moves).toHaveLength(1);
    await restart(5000);
    const after = virtualAddresses(region.keeper.current());
    const known = (vips: typeof before) =>
      vips.map(({ address, holders, moves: of }) => [address, holders.map(({ since }) => since), of]);
    expect(known(after)).toEqual(known(before));
    region.report("r2", OWN.r2, masked);
    await clock.advance(3000);
    expect(region.holders()).toMatchObject({ "192.168.50.51": "r2" });
  });

  it("sees a move that happened meanwhile, and makes no rack stale", async () => {
    await restart(120_000);
    expect(region.problems()).toEqual([]);
    region.report("r1", OWN.r1);
    region.report("r2", OWN.r2, `${VIP}/32`);
    await clock.advance(1000);
    expect(await moves()).toEqual([`${VIP} r1 r2`]);
    await clock.advance(61_000);
    expect(region.problems()).toEqual([]);
  });

  it("after which a rack does not come back makes it stale, and its VIP stays where it was", async () => {
    await restart(1000);
    region.report("r2", OWN.r2);
    await clock.advance(61_000);
    expect(region.problems()).toEqual(["rack-stale r1"]);
    expect(region.holders()).toEqual({ [VIP]: "r1" });
  });

  it("takes facts whose verdicts were not saved", async () => {
    disk.topologyRacks.clear();
    await restart(1000);
    expect(region.holders()).toEqual({ [VIP]: "r1" });
  });
});

it("a full disk loses nothing that a later pass can save, and is told once", async () => {
  disk.failure = new EnvironmentError("store-unwritable", "disk", "full");
  await moveTo("r2");
  expect(await moves()).toEqual([]);
  disk.failure = null;
  await clock.advance(2000);
  expect(await moves()).toEqual([`${VIP} r1 r2`]);
  expect(region.lines.filter((line) => line.includes("not saved; tried again"))).toHaveLength(1);
});

it("a rack that is removed takes its addresses with it, a lease report changes nothing", async () => {
  const before = region.keeper.current();
  region.say("r1", { leases: new Map() });
  expect(region.keeper.current()).toBe(before);
  region.remove("r1");
  await clock.advance(1000);
  expect([region.keeper.current().racks.size, disk.topologyRacks.size]).toEqual([1, 1]);
});

it("tells a move at once, and writes nothing for a report that says the same", async () => {
  region.report("r1", OWN.r1);
  region.report("r2", OWN.r2, `${VIP}/32`);
  expect(await region.keeper.moves(EVERY_MOVE)).toMatchObject([{ from: "r1", to: "r2" }]);
  await clock.advance(1000);
  disk.topologyRacks.clear();
  region.report("r2", OWN.r2, `${VIP}/32`);
  await clock.advance(1000);
  expect(disk.topologyRacks.size).toBe(0);
});

it("an empty scan is no report", () => {
  const empty: readonly HostInterface[] = [interfaceOf("eth0")];
  region.say("r1", { interfaces: empty });
  expect(region.holders()).toEqual({ [VIP]: "r1" });
});
