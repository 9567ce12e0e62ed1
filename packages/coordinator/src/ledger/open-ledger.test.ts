import { ipAddress, parseHardwareAddress, type HardwareAddress } from "@berth/core";
import { silentLog, systemClock } from "@berth/host";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
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
