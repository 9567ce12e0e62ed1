import { ipAddress, type RackView } from "@berth/core";
import { createLog, EnvironmentError, systemClock } from "@berth/host";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { nic, rackOf } from "../../../../test/fixtures/alloc/build.js";
import type { Ledger } from "../ledger/ledger.js";
import { openLedger } from "../ledger/open-ledger.js";
import { createMemoryStore, MemoryDisk } from "../store/memory-store.js";
import { createPlanner, type Planner } from "./planner.js";

let lines: string[] = [];
const ports = { clock: systemClock, log: createLog({ level: "error", write: (line) => lines.push(line) }) };
let disk: MemoryDisk;
let views: RackView[];
let ledger: Ledger;
let planner: Planner;
let stop: AbortController;
let running: Promise<void>;

async function start(): Promise<void> {
  const store = createMemoryStore(disk);
  const racks = (): RackView[] => views;
  ledger = await openLedger({ ...ports, store, racks });
  planner = await createPlanner({ ...ports, ledger, racks, store, policy: { forwarders: [], mailbox: null, ntpUpstreams: [] } });
  stop = new AbortController();
  running = planner.run(stop.signal);
}

async function restart(): Promise<void> {
  stop.abort();
  await running;
  await start();
}

beforeEach(async () => {
  lines = [];
  disk = new MemoryDisk();
  views = [rackOf("r1", ["192.168.50.1/24"])];
  await start();
  await ledger.createSubnet({ prefix: "192.168.50.0/24", domain: "rack.example", mode: "static" });
  await planner.settled();
});

afterEach(async () => {
  stop.abort();
  await running;
});

const serialOf = (origin: string) => planner.desiredFor("id-r1")?.zones.find((zone) => zone.origin === origin)?.serial;

test("a change gives one more generation, saved before it is handed out; nothing changed gives none", async () => {
  const before = planner.desiredFor("id-r1")?.generation ?? 0;
  const savedWhenAnnounced: unknown[] = [];
  planner.onDesired((rackId) => savedWhenAnnounced.push([rackId, disk.desired.get(rackId)?.state.generation]));
  await ledger.enroll({ nics: [nic(1)], subnet: "1", name: "db1" });
  await planner.settled();
  expect(planner.desiredFor("id-r1")).toMatchObject({
    generation: before + 1,
    subnets: [{ hosts: [{ name: "db1.rack.example" }] }],
  });
  expect(savedWhenAnnounced).toEqual([["id-r1", before + 1]]);
  await planner.settled();
  expect(planner.desiredFor("id-r1")?.generation).toBe(before + 1);
  expect(planner.desiredFor("id-r9")).toBeNull();
});

test("after a restart with nothing changed there is no new generation, and the old one is there at once", async () => {
  await ledger.enroll({ nics: [nic(1)], subnet: "1" });
  await planner.settled();
  const before = planner.desiredFor("id-r1");
  await restart();
  expect(planner.desiredFor("id-r1")).toEqual(before);
  await planner.settled();
  expect(planner.desiredFor("id-r1")).toEqual(before);
});

test("a machine with its pre-made name moves no serial, a chosen name moves those of its zones only", async () => {
  const forward = serialOf("rack.example");
  await ledger.enroll({ nics: [nic(1)], subnet: "1" });
  await planner.settled();
  expect(serialOf("rack.example")).toBe(forward);
  await ledger.createSubnet({ prefix: "10.1.0.0/24", domain: "other.example", mode: "off" });
  await planner.settled();
  const other = serialOf("other.example");
  await ledger.enroll({ nics: [nic(2)], subnet: "1", name: "db1" });
  await planner.settled();
  expect([serialOf("rack.example"), serialOf("other.example")]).toEqual([(forward ?? 0) + 1, other]);
});

test("a rack that lost its report, or a region that lost its racks, keeps what it runs", async () => {
  const before = planner.desiredFor("id-r1");
  views = views.map((view) => ({ ...view, interfaces: [] }));
  await planner.settled();
  views = [];
  await planner.settled();
  expect(planner.desiredFor("id-r1")).toEqual(before);
});

test("a rack that holds a higher generation than the store knows gets one above it", async () => {
  views = views.map((view) => ({ ...view, accepted: 40 }));
  await planner.settled();
  expect(planner.desiredFor("id-r1")?.generation).toBe(41);
});

test("nothing is handed out while it cannot be saved, and a later pass makes up for it", async () => {
  disk.failure = new EnvironmentError("store-unwritable", "memory", "the disk is full");
  views = [...views, rackOf("r2", ["192.168.50.2/24"])];
  planner.nudge();
  await vi.waitUntil(() => lines.length > 0, { timeout: 10_000 });
  expect([lines.length, planner.desiredFor("id-r2")]).toEqual([1, null]);
  disk.failure = null;
  await planner.settled();
  expect(planner.desiredFor("id-r2")).toMatchObject({ generation: 1, subnets: [{ id: 1 }] });
});

test("tells which subnet an enlistment address belongs to", async () => {
  await ledger.changeSubnet(1, { mode: "link-local" });
  await planner.settled();
  const slice = planner.desiredFor("id-r1")?.subnets[0]?.enlistment?.slice;
  expect(slice).toBe("169.254.16.0/20");
  const asked = ["169.254.16.9", "169.254.40.1"].map((address) => planner.enlistmentSubnet("id-r1", ipAddress(address)));
  expect([...asked, planner.enlistmentSubnet("id-r9", ipAddress("169.254.16.9"))]).toEqual([1, null, null]);
});

test("problems of the plan are there to be shown", async () => {
  await ledger.createSubnet({ prefix: "10.9.0.0/24", domain: "nine.example", mode: "static", gateway: ipAddress("10.9.0.1") });
  await planner.settled();
  expect(planner.problems().map(({ code, at }) => `${code} ${at}`)).toEqual(["subnet-unserved subnet 2"]);
});

test("a rack that is ahead of the store is named, and gets a number above its own", async () => {
  const before = planner.desiredFor("id-r1")?.generation ?? 0;
  expect(planner.problems()).toEqual([]);
  views = views.map((rack) => ({ ...rack, accepted: before + 5 }));
  planner.nudge();
  await planner.settled();
  expect(planner.problems()).toMatchObject([{ code: "region-behind-rack", at: "r1" }]);
  expect(planner.desiredFor("id-r1")?.generation).toBe(before + 6);
  views = views.map((rack) => ({ ...rack, accepted: before + 6 }));
  await planner.settled();
  expect(planner.problems()).toMatchObject([{ code: "region-behind-rack" }]);
  views = [];
  await planner.settled();
  expect(planner.problems().filter(({ code }) => code === "region-behind-rack")).toEqual([]);
});
