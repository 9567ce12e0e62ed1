import { ipAddress, RackLeases, type HardwareAddress, type LeaseReport, type Observation } from "@berth/core";
import { silentLog, systemClock } from "@berth/host";
import { expect, test, vi } from "vitest";
import { createMemoryStore } from "../store/memory-store.js";
import { createRackRegistry, type RackRegistry } from "./rack-registry.js";

const session = { connection: 1, stream: "s", generation: 3, clockAheadMs: 0 };

async function twoRacks(now: () => number): Promise<RackRegistry> {
  const registry = await createRackRegistry({
    store: createMemoryStore(),
    clock: { ...systemClock, now },
    log: silentLog,
  });
  await registry.admit({ id: "r-1", name: "b", site: "s", joinedAt: 5, certificateSerial: null, publicKeyHash: "aa" });
  await registry.admit({ id: "r-2", name: "c", site: "s", joinedAt: 5, certificateSerial: null, publicKeyHash: "bb" });
  return registry;
}

test("the views are the same objects until a rack changes, and then new ones of that rack alone", async () => {
  let now = 10;
  const registry = await twoRacks(() => now);
  const before = registry.views();
  expect(registry.views()).toBe(before);
  const changes: (() => void)[] = [
    () => registry.open("r-1", session),
    () => (now = 11) && registry.heard("r-1"),
    () => registry.accept("r-1", 4),
    () => registry.observe("r-1", { type: "leases", sequence: 1, page: "whole", leases: [], gone: [] }),
    () => registry.close("r-1", 1),
  ];
  let last = before;
  for (const change of changes) {
    change();
    const views = registry.views();
    expect(views[0]).not.toBe(last[0]);
    expect(views[1]).toBe(before[1]);
    expect(views[0]).toBe(registry.view("r-1"));
    last = views;
  }
  expect(last[0]).toMatchObject({ connected: false, lastSeenAt: 11, accepted: 4 });
  expect(before[0]).toMatchObject({ connected: false, lastSeenAt: null, accepted: 0 });
});

test("a listener that looks while racks come, go and change their names sees them in order", async () => {
  const registry = await twoRacks(() => 10);
  const seen: string[] = [];
  registry.onChange(() =>
    seen.push(
      registry
        .views()
        .map(({ name }) => name)
        .join(),
    ),
  );
  await registry.admit({ id: "r-1", name: "d", site: "s", joinedAt: 5, certificateSerial: null, publicKeyHash: "aa" });
  await registry.admit({ id: "r-3", name: "a", site: "s", joinedAt: 5, certificateSerial: null, publicKeyHash: "cc" });
  await registry.remove("r-2");
  expect(seen).toEqual(["c,d", "a,c,d", "a,d"]);
});

const NICS = ["02:00:00:00:00:01", "02:00:00:00:00:02", "02:00:00:00:00:03"] as HardwareAddress[];

function lease(last: number, nic: HardwareAddress | undefined): LeaseReport {
  const state = { state: "active", inUse: true, allocatable: false, dnsLabel: null, starts: 1, ends: 2 } as const;
  return { ...state, address: ipAddress(`10.0.0.${last}`), hardwareAddress: nic ?? null };
}

function report(page: "whole" | "begin" | "end" | "delta", leases: LeaseReport[]): Observation {
  return { type: "leases", sequence: 1, page, leases, gone: [] };
}

/** What a look through everything finds that racks report of each NIC. */
function lookThrough(registry: RackRegistry): unknown {
  return NICS.map((nic) =>
    registry
      .views()
      .flatMap((rack) => [...rack.leases.values()].map((each) => ({ rack, lease: each })))
      .filter((each) => each.lease.hardwareAddress === nic),
  );
}

test("what racks report of a NIC is what a look through all racks finds, whatever came and went", async () => {
  const registry = await twoRacks(() => 10);
  const [one, two, three] = NICS;
  const steps: (() => unknown)[] = [
    () => registry.open("r-1", session),
    () => registry.open("r-2", session),
    () => registry.observe("r-2", report("whole", [lease(1, one), lease(2, two)])),
    () => registry.observe("r-1", report("begin", [lease(1, one)])),
    () => registry.observe("r-1", report("end", [lease(3, three), lease(4, one)])),
    () => registry.observe("r-1", report("delta", [lease(4, two), lease(5, undefined)])),
    () => registry.observe("r-2", { type: "leases", sequence: 1, page: "delta", leases: [], gone: [ipAddress("10.0.0.2")] }),
    () => registry.observe("r-2", report("whole", [lease(9, three)])),
    () => registry.heard("r-2"),
    () => registry.admit({ id: "r-1", name: "z", site: "s", joinedAt: 5, certificateSerial: null, publicKeyHash: "aa" }),
    () => registry.remove("r-2"),
    () => registry.reload(),
  ];
  const found: unknown[] = [];
  for (const step of steps) {
    await step();
    found.push(lookThrough(registry));
    expect(NICS.map((nic) => registry.leasesOf(nic))).toEqual(found.at(-1));
  }
  expect(new Set(found.map((each) => JSON.stringify(each))).size).toBeGreaterThan(6);
});

test("a rack that could not be removed keeps what it reported", async () => {
  const store = createMemoryStore();
  const registry = await createRackRegistry({ store, clock: systemClock, log: silentLog });
  await registry.admit({ id: "r-1", name: "b", site: "s", joinedAt: 5, certificateSerial: null, publicKeyHash: "aa" });
  registry.open("r-1", session);
  registry.observe("r-1", report("whole", [lease(1, NICS[0])]));
  vi.spyOn(store.racks, "remove").mockRejectedValueOnce(new Error("away"));
  await expect(registry.remove("r-1")).rejects.toThrow("away");
  expect(registry.leasesOf(NICS[0] ?? ("" as HardwareAddress))).toHaveLength(1);
});

test("what racks report of a NIC is asked of those racks alone, however many there are", async () => {
  const registry = await createRackRegistry({ store: createMemoryStore(), clock: systemClock, log: silentLog });
  for (let number = 0; number < 200; number++) {
    const id = `r-${number}`;
    await registry.admit({ id, name: id, site: "s", joinedAt: 5, certificateSerial: null, publicKeyHash: id });
    registry.open(id, session);
    registry.observe(id, report("whole", [lease(1, number === 70 ? NICS[0] : NICS[1])]));
  }
  const asked = vi.spyOn(RackLeases.prototype, "ofNic");
  const [one, , three] = NICS;
  expect([one, three].map((nic) => (nic === undefined ? -1 : registry.leasesOf(nic).length))).toEqual([1, 0]);
  expect(asked).toHaveBeenCalledTimes(1);
  asked.mockRestore();
});

test("a coordinator without racks that reads what racks reported has each lease as it is stored, and keeps the table that is indexed", async () => {
  const store = createMemoryStore();
  const registries = [];
  for (const clock of [systemClock, systemClock]) registries.push(await createRackRegistry({ store, clock, log: silentLog }));
  const [writer, reader] = registries as [RackRegistry, RackRegistry];
  await writer.admit({ id: "r-1", name: "b", site: "s", joinedAt: 5, certificateSerial: null, publicKeyHash: "aa" });
  writer.open("r-1", session);
  const [one, two, three] = NICS;
  writer.observe("r-1", report("whole", [lease(1, one), lease(2, two), lease(3, three)]));
  await reader.reload();
  const table = reader.view("r-1")?.leases;
  const change = [lease(2, three), { ...lease(3, three), ends: 7 }, lease(4, one)];
  writer.observe("r-1", { type: "leases", sequence: 2, page: "delta", leases: change, gone: [ipAddress("10.0.0.1")] });
  await reader.reload();
  expect(reader.view("r-1")?.leases).toBe(table);
  expect(new Map(table)).toEqual(new Map(writer.view("r-1")?.leases));
  const found = NICS.map((nic) => reader.leasesOf(nic).map(({ lease: { address, ends } }) => `${address} ${String(ends)}`));
  expect(found.map((each) => each.sort())).toEqual([["10.0.0.4 2"], [], ["10.0.0.2 2", "10.0.0.3 7"]]);
});
