import type { HostInterface } from "@berth/core";
import { EnvironmentError, silentLog, systemClock, type Clock } from "@berth/host";
import { expect, test } from "vitest";
import { createMemoryStore, MemoryDisk } from "../store/memory-store.js";
import { followRacks } from "./follow-racks.js";
import { createRackRegistry } from "./rack-registry.js";

const eth0: HostInterface = {
  name: "eth0",
  index: 2,
  parent: null,
  kind: null,
  vlanId: null,
  hardwareAddress: null,
  permanentAddress: null,
  flags: ["UP"],
  mtu: 1500,
  addresses: [],
};
const record = { id: "r-1", name: "rack-1", site: "default", joinedAt: 5, certificateSerial: null, publicKeyHash: "aa" };

test("a coordinator that stands by knows of racks what the database has, and tells what is new", async () => {
  const disk = new MemoryDisk();
  const ports = { clock: systemClock, log: silentLog };
  const [writer, reader] = [createMemoryStore(disk), createMemoryStore(disk)];
  const registry = await createRackRegistry({ store: reader, ...ports });
  expect(registry.views()).toEqual([]);
  await writer.racks.save(record);
  writer.reports.saveInterfaces("r-1", [eth0], 9);
  await registry.reload();
  const [view] = registry.views();
  expect(view).toMatchObject({ id: "r-1", connected: false, interfaces: [{ name: "eth0" }] });
  await registry.reload();
  expect(registry.view("r-1")?.interfaces).toBe(view?.interfaces);
  writer.reports.saveInterfaces("r-1", [{ ...eth0, name: "eth1" }], 10);
  const changed: string[] = [];
  registry.onChange((id) => changed.push(id));
  await registry.reload();
  expect(registry.view("r-1")?.interfaces.map(({ name }) => name)).toEqual(["eth1"]);
  expect(changed).toEqual(["r-1"]);
  await writer.racks.remove("r-1");
  await registry.reload();
  expect(registry.views()).toEqual([]);
});

test("a database that is away is read again when it is back", async () => {
  const ended = new AbortController();
  let reads = 0;
  const registry = {
    reload: () => {
      reads += 1;
      if (reads === 3) ended.abort();
      return reads < 3 ? Promise.reject(new EnvironmentError("store-unreachable", "db", "it is away")) : Promise.resolve();
    },
  };
  const clock: Clock = { ...systemClock, sleep: () => Promise.resolve() };
  const warnings: unknown[] = [];
  const log = { ...silentLog, warn: (...said: unknown[]) => void warnings.push(said) };
  await followRacks([registry], { clock, log }, ended.signal);
  expect([reads, warnings.length]).toEqual([3, 1]);
});
