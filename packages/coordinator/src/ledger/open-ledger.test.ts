import { ipAddress, parseHardwareAddress, type HardwareAddress } from "@berth/core";
import { silentLog, systemClock } from "@berth/host";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createMemoryStore, MemoryDisk } from "../store/memory-store.js";
import { createSqliteStore } from "../store/sqlite-store.js";
import type { Store } from "../store/store.js";
import type { Ledger } from "./ledger.js";
import { openLedger } from "./open-ledger.js";

const ports = { clock: systemClock, log: silentLog };
let folder: string;
let store: Store;
let ledger: Ledger;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-ledger-"));
  await reopen();
});

afterEach(async () => {
  await store.close();
  await rm(folder, { recursive: true });
});

async function reopen(): Promise<void> {
  store = await createSqliteStore(folder, ports);
  ledger = await openLedger({ ...ports, store, racks: () => [] });
}

function nic(number: number): HardwareAddress {
  const address = parseHardwareAddress(`02:00:00:00:${(number >> 8).toString(16)}:${(number & 255).toString(16)}`);
  if (address === null) throw new Error("not a NIC");
  return address;
}

test("a machine keeps its address and name over a restart, and the same request again changes nothing", async () => {
  const subnet = await ledger.createSubnet({
    prefix: "192.168.50.0/24",
    gateway: ipAddress("192.168.50.1"),
    domain: "Rack.Example.",
    mode: "static",
  });
  expect(subnet).toMatchObject({ ok: true, value: { id: 1, domain: "rack.example" } });
  const first = await ledger.enroll({ nics: [nic(1)], subnet: "1" });
  expect(first).toMatchObject({
    ok: true,
    value: { created: true, allocation: { address: "192.168.50.2", name: "ip-192-168-50-2.rack.example" } },
  });
  const { revision } = ledger;
  const before = { subnets: ledger.subnets(), machines: ledger.machines(), allocations: ledger.allocations() };
  await store.close();
  await reopen();
  expect({ subnets: ledger.subnets(), machines: ledger.machines(), allocations: ledger.allocations() }).toEqual(before);
  const again = await ledger.enroll({ nics: [nic(1)], subnet: "192.168.50.0/24" });
  expect(again).toMatchObject({ ok: true, value: { created: false, allocation: { address: "192.168.50.2" } } });
  expect(ledger.revision).toBe(revision);
});

test("requests of one turn share one commit", async () => {
  await ledger.createSubnet({ prefix: "10.0.0.0/16", domain: "example.com", mode: "static" });
  const { revision } = ledger;
  let changes = 0;
  ledger.onChange(() => (changes += 1));
  const results = await Promise.all(
    Array.from({ length: 300 }, (_, index) => ledger.enroll({ nics: [nic(index + 1)], subnet: "1" })),
  );
  expect(results.every(({ ok }) => ok)).toBe(true);
  expect(new Set(ledger.allocations().map(({ address }) => address)).size).toBe(300);
  expect(ledger.revision).toBe(revision + 1);
  expect(changes).toBe(1);
});

test("a commit that fails leaves memory as the store has it, and the caller gets the error", async () => {
  await ledger.createSubnet({ prefix: "10.0.0.0/16", domain: "example.com", mode: "static" });
  await ledger.enroll({ nics: [nic(1)], subnet: "1" });
  const before = [ledger.subnets(), ledger.machines(), ledger.allocations(), ledger.quarantines(), ledger.revision];
  await store.close();
  const lost = [
    ledger.enroll({ nics: [nic(2)], subnet: "1" }),
    ledger.release(nic(1)),
    ledger.createSubnet({ prefix: "10.1.0.0/16", domain: "b.example", mode: "static" }),
  ];
  for (const outcome of await Promise.allSettled(lost)) {
    expect(outcome).toMatchObject({ status: "rejected", reason: { name: "EnvironmentError", code: "store-closed" } });
  }
  expect([ledger.subnets(), ledger.machines(), ledger.allocations(), ledger.quarantines(), ledger.revision]).toEqual(before);
  await reopen();
  expect([ledger.subnets(), ledger.machines(), ledger.allocations(), ledger.quarantines(), ledger.revision]).toEqual(before);
});

test("parallel callers with random wishes never share an address, and a reload has what they were told", async () => {
  await ledger.createSubnet({ prefix: "10.0.0.0/25", domain: "example.com", mode: "static" });
  const told = new Map<HardwareAddress, string>();
  const callers = Array.from({ length: 32 }, async (_, caller) => {
    for (let step = 0; step < 25; step++) {
      const own = nic(1 + caller * 8 + ((step * 5) % 8));
      const result = await ledger.enroll({ nics: [own], subnet: "1" });
      if (result.ok) told.set(own, result.value.allocation.address);
      else expect(result.problems.map(({ code }) => code)).toEqual(["subnet-exhausted"]);
      if (step % 4 !== 3) continue;
      await ledger.release(own);
      told.delete(own);
    }
  });
  await Promise.all(callers);
  const held = (): [HardwareAddress | undefined, string][] => ledger.allocations().map(({ nics, address }) => [nics[0], address]);
  expect(new Map(held())).toEqual(told);
  expect(new Set(held().map(([, address]) => address)).size).toBe(held().length);
  const before = new Map(held());
  await store.close();
  await reopen();
  expect(new Map(held())).toEqual(before);
});

test("one command that the database refuses does not spoil the others of its turn", async () => {
  const disk = new MemoryDisk();
  const open = (): Promise<Ledger> => openLedger({ ...ports, store: createMemoryStore(disk), racks: () => [] });
  const mine = await open();
  await mine.createSubnet({ prefix: "10.0.0.0/24", domain: "example.com", mode: "static" });
  const stranger = await open();
  await stranger.enroll({ nics: [nic(1)], subnet: "1", name: "taken" });
  const outcomes = await Promise.allSettled([
    mine.enroll({ nics: [nic(2)], subnet: "1", name: "taken", address: ipAddress("10.0.0.9") }),
    mine.enroll({ nics: [nic(3)], subnet: "1", address: ipAddress("10.0.0.10") }),
  ]);
  expect(outcomes).toMatchObject([
    { status: "rejected", reason: { code: "store-conflict" } },
    { status: "fulfilled", value: { ok: true, value: { allocation: { address: "10.0.0.10" } } } },
  ]);
  expect(mine.allocations().map(({ address }) => address)).toEqual(["10.0.0.10"]);
});

test("every change leaves who, what and the records before and after in the audit log", async () => {
  await ledger.createSubnet({ prefix: "10.0.0.0/24", domain: "example.com", mode: "static" }, "admin");
  await ledger.enroll({ nics: [nic(1)], subnet: "1" }, "operator");
  await ledger.enroll({ nics: [nic(1)], subnet: "1" }, "operator");
  await ledger.enroll({ nics: [nic(2)], subnet: "7" }, "operator");
  await ledger.release(nic(1));
  const entries = await store.audit.list(0, 10);
  expect(entries.map(({ actor, action }) => `${actor} ${action}`)).toEqual([
    "admin create-subnet",
    "operator enroll-machine",
    "coordinator release-machine",
  ]);
  expect(entries[2]?.detail).toMatchObject([
    { table: "machine", before: { state: "enrolled" }, after: { state: "released" } },
    { table: "allocation", after: null },
    { table: "quarantine", before: null, after: { address: "10.0.0.1" } },
  ]);
});

test("an enrollment asks only for the racks that it is about, and looks through none of the others", async () => {
  const asked: unknown[] = [];
  const none = (what: unknown): readonly never[] => {
    asked.push(what);
    return [];
  };
  const all = (): never => {
    throw new Error("all racks were looked through");
  };
  const finder = { all, holding: none, seeing: none, labelled: none };
  await store.close();
  store = await createSqliteStore(folder, ports);
  ledger = await openLedger({ ...ports, store, racks: all, finder });
  await ledger.createSubnet({ prefix: "192.168.50.0/24", domain: "rack.example", mode: "static" });
  const enrolled = await ledger.enroll({ nics: [nic(1)], name: "web1" });
  expect(enrolled).toMatchObject({ ok: true, value: { allocation: { address: "192.168.50.1", name: "web1.rack.example" } } });
  const vip = await ledger.allocate({ kind: "vip", owners: ["web1"], name: "service" });
  expect(vip).toMatchObject({ ok: true, value: { allocation: { address: "192.168.50.2" } } });
  expect(asked).toEqual(expect.arrayContaining([[nic(1)], "web1", "192.168.50.1", "service", ipAddress("192.168.50.2")]));
});
