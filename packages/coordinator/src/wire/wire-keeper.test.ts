import {
  ipAddress,
  parseHardwareAddress,
  WireRecords,
  type AgentMessage,
  type HardwareAddress,
  type RackView,
} from "@berth/core";
import { EnvironmentError, silentLog } from "@berth/host";
import { createFakeClock } from "@berth/host/fakes";
import { describe, expect, it } from "vitest";
import { interfaceOf, NOON, rackOf } from "../../../../test/fixtures/alloc/build.js";
import { openLedger } from "../ledger/open-ledger.js";
import { createMemoryStore, MemoryDisk } from "../store/memory-store.js";
import { createWireKeeper } from "./wire-keeper.js";

type WireMessage = Extract<AgentMessage, { readonly type: "wire" }>;

function mac(last: number): HardwareAddress {
  const address = parseHardwareAddress(`02:00:00:00:00:${last}`);
  if (address === null) throw new Error("not a hardware address");
  return address;
}

const DAY = 24 * 3_600_000;

describe("what racks hear on their wires", () => {
  async function setUp(disk = new MemoryDisk(), racks: readonly RackView[] = [rackOf("r1", ["192.0.2.1/28"])]) {
    const clock = createFakeClock(NOON);
    const store = createMemoryStore(disk);
    const loaded = await store.wire.load();
    const records = new WireRecords(loaded.records);
    const ports = { clock, log: silentLog };
    const ledger = await openLedger({ ...ports, store, racks: () => racks, wire: records, wireWindowMs: 7 * DAY });
    const listeners: ((id: string) => void)[] = [];
    const registry = {
      views: () => racks,
      view: (id: string) => racks.find((rack) => rack.id === id) ?? null,
      onChange: (listener: (id: string) => void) => {
        listeners.push(listener);
        return () => undefined;
      },
    };
    const keeper = createWireKeeper({
      ...ports,
      records,
      mark: loaded.mark,
      ledger,
      registry,
      store: store.wire,
      windowMs: 7 * DAY,
    });
    const told: string[] = [];
    keeper.onWishes((rackId) => told.push(rackId));
    const hear = (answers: WireMessage["answers"], now: number = clock.now()): void =>
      keeper.hear("id-r1", { type: "wire", answers, now });
    const pass = async (): Promise<void> => {
      const once = new AbortController();
      const running = keeper.run(once.signal);
      for (let turn = 0; turn < 50; turn++) await Promise.resolve();
      once.abort();
      await running;
    };
    const enroll = async (last: number) => {
      const result = await ledger.enroll({ nics: [mac(last)], subnet: "1" });
      if (!result.ok) throw new Error(result.problems[0]?.code);
      return result.value;
    };
    if (ledger.subnets().length === 0)
      await ledger.createSubnet({ prefix: "192.0.2.0/28", domain: "rack.example", mode: "static" });
    return { clock, disk, ledger, keeper, hear, pass, enroll, told };
  }
  const probe = (address: string, ...holders: number[]): WireMessage["answers"][number] => ({
    address: ipAddress(address),
    hardwareAddresses: holders.map(mac),
    at: NOON,
    how: "probe",
  });

  it("wants the next addresses probed by the rack that is there, and an allocation of a probed one is born verified", async () => {
    const { keeper, hear, pass, enroll, told } = await setUp();
    await pass();
    expect(told).toEqual(["id-r1"]);
    expect(keeper.wishesFor("id-r1").slice(0, 2)).toEqual(["192.0.2.2", "192.0.2.3"]);
    expect(keeper.wishesFor("id-r2")).toEqual([]);
    hear([probe("192.0.2.2", 7), probe("192.0.2.3")]);
    const { allocation } = await enroll(1);
    expect([allocation.address, keeper.verification(allocation)]).toEqual(["192.0.2.3", "verified"]);
    const unseen = await enroll(2);
    expect([unseen.allocation.address, keeper.verification(unseen.allocation)]).toEqual(["192.0.2.4", "unverified"]);
    await pass();
    expect(keeper.wishesFor("id-r1")).toContain("192.0.2.4");
    hear([probe("192.0.2.4")]);
    expect(keeper.verification(unseen.allocation)).toBe("verified");
    await pass();
    expect(keeper.wishesFor("id-r1")).not.toContain("192.0.2.4");
  });

  it("names a foreign holder once a probe heard it, and forgets it when the machine answers", async () => {
    const { keeper, hear, pass, enroll, clock } = await setUp();
    const { allocation } = await enroll(1);
    hear([{ ...probe(allocation.address, 9), how: "neighbor" }]);
    expect(keeper.problems()).toEqual([]);
    await pass();
    expect(keeper.wishesFor("id-r1")[0]).toBe(allocation.address);
    await clock.advance(1000);
    hear([{ ...probe(allocation.address, 9), at: NOON + 1000 }]);
    expect(keeper.problems().map(({ code, at }) => `${code} ${at}`)).toEqual([
      `address-in-use-by-other default ${allocation.address}`,
    ]);
    expect(keeper.problems()[0]?.message).toContain(`${mac(9)} answers for ${allocation.address} on rack r1`);
    expect(keeper.verification(allocation)).toBe("in-use-by-other");
    await clock.advance(1000);
    hear([{ ...probe(allocation.address, 1), at: NOON + 2000 }]);
    expect(keeper.problems()).toEqual([]);
  });

  it("remembers over a restart what answered, so that it is not given, and what was verified", async () => {
    const first = await setUp();
    first.hear([probe("192.0.2.2", 7), probe("192.0.2.3"), { ...probe("192.0.2.4", 9), at: NOON - 1 }]);
    await first.ledger.enroll({ nics: [mac(1)], subnet: "1", address: ipAddress("192.0.2.3") });
    await first.pass();
    const second = await setUp(first.disk);
    const [kept] = second.ledger.allocations();
    if (kept === undefined) throw new Error("the allocation is lost");
    expect(second.keeper.verification(kept)).toBe("verified");
    expect((await second.enroll(2)).allocation.address).toBe("192.0.2.5");
  });

  it("takes what another coordinator saved, and only what is new", async () => {
    const disk = new MemoryDisk();
    const [holder, other] = [await setUp(disk), await setUp(disk)];
    holder.hear([probe("192.0.2.2", 7)]);
    await holder.pass();
    await other.keeper.reload();
    disk.wire.clear();
    holder.hear([probe("192.0.2.3", 8)]);
    await holder.pass();
    expect(disk.wire.size).toBe(1);
    await other.keeper.reload();
    expect((await other.enroll(1)).allocation.address).toBe("192.0.2.4");
  });

  it("takes the times of a rack whose clock is off by the region's clock", async () => {
    const { hear, ledger, enroll } = await setUp();
    const wrong = NOON - 400 * DAY;
    hear([{ ...probe("192.0.2.2", 7), at: wrong }], wrong);
    expect((await enroll(1)).allocation.address).toBe("192.0.2.3");
    const named = await ledger.enroll({ nics: [mac(2)], subnet: "1", address: ipAddress("192.0.2.2") });
    expect(named.ok ? [] : named.problems.map(({ code }) => code)).toEqual(["address-held-by-stranger"]);
  });

  it("gives what was heard longest ago when nothing else is left, with a warning (case 167)", async () => {
    const { hear, ledger, enroll, clock } = await setUp(new MemoryDisk(), [rackOf("r1", ["192.0.2.1/28"])]);
    hear([
      { ...probe("192.0.2.2", 7), at: NOON - 9 * DAY },
      { ...probe("192.0.2.3", 8), at: NOON - 10 * DAY },
      { ...probe("192.0.2.4", 6), at: NOON - DAY },
    ]);
    for (let last = 10; last < 20; last++) await enroll(last);
    const oldest = await enroll(20);
    expect([oldest.allocation.address, oldest.warnings?.map(({ code }) => code)]).toEqual(["192.0.2.3", ["address-seen-before"]]);
    expect((await enroll(21)).allocation.address).toBe("192.0.2.2");
    expect((await ledger.enroll({ nics: [mac(22)], subnet: "1" })).ok).toBe(false);
    await clock.advance(6 * DAY + 1);
    expect((await enroll(22)).allocation.address).toBe("192.0.2.4");
  });

  it("tries again to save what could not be saved", async () => {
    const { disk, hear, pass } = await setUp();
    disk.failure = new EnvironmentError("store-unwritable", "disk", "full");
    hear([probe("192.0.2.2", 7)]);
    await pass();
    expect(disk.wire.size).toBe(0);
    disk.failure = null;
    await pass();
    expect([...disk.wire.keys()]).toEqual(["default 192.0.2.2"]);
  });

  it("asks the first connected rack that serves the subnet, and no other", async () => {
    const racks = [
      { ...rackOf("r0", ["192.0.2.5/28"]), connected: false },
      rackOf("r1", ["192.0.2.1/28"]),
      { ...rackOf("r2", []), interfaces: [interfaceOf("eth0", "192.0.2.6/28")] },
    ];
    const { keeper, pass } = await setUp(new MemoryDisk(), racks);
    await pass();
    expect(["id-r0", "id-r1", "id-r2"].map((id) => keeper.wishesFor(id).length > 0)).toEqual([false, true, false]);
    expect(keeper.wishesFor("id-r1")).not.toContain("192.0.2.5");
  });
});
