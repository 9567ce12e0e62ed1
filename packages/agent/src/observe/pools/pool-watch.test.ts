import { ipAddress, ipv4FromNumber, ipv4Number, type LeaseReport } from "@berth/core";
import { EnvironmentError, silentLog } from "@berth/host";
import { createFakeClock } from "@berth/host/fakes";
import { expect, it } from "vitest";
import { linkAt, subnetOf } from "../../../../../test/fixtures/dhcpd/subnet.js";
import type { LogLines } from "./log-reader.js";
import { createPoolWatch } from "./pool-watch.js";

const PERIOD_MS = 30_000;
const FIRST = ipAddress("192.168.50.100");
const WINDOW = { first: FIRST, last: ipAddress("192.168.50.104") };
const QUIET: LogLines = { lines: [], isGap: false };
const OFFERED = "DHCPDISCOVER from 02:00:00:00:00:01 via eth0";
const TURNED_AWAY = `${OFFERED}: network eth0: no free leases`;

function setUp() {
  const clock = createFakeClock(Date.parse("2026-11-30T12:00:00Z"));
  const desired = { subnets: [subnetOf({ mode: "window", window: WINDOW })] };
  const attached = { local: { links: [linkAt("eth0", 1, "192.168.50.1")] }, interfaces: [] };
  const world = { used: 0, served: true, log: QUIET, failing: null as Error | null, changed: (): void => undefined };
  const seen = { walks: 0, changes: 0 };
  const watch = createPoolWatch({
    clock,
    log: silentLog,
    attach: { desired: () => (world.served ? (desired as never) : null), now: () => attached },
    leases: [
      {
        pages: () => {
          seen.walks++;
          const leases = Array.from({ length: world.used }, (_, i) => leaseAt(i));
          return { length: leases.length, slice: (from, to) => leases.slice(from, to) };
        },
        onChange: (listener) => {
          world.changed = () => listener({ upserts: [], gone: [], keys: [], reset: false });
          return () => undefined;
        },
      },
    ],
    dhcpdLog: { read: () => (world.failing === null ? Promise.resolve(world.log) : Promise.reject(world.failing)) },
    periodMs: PERIOD_MS,
  });
  watch.onChange(() => (seen.changes += 1));
  const ending = new AbortController();
  const running = watch.run(ending.signal);
  const round = async (): Promise<readonly string[]> => {
    await clock.advance(PERIOD_MS);
    for (let turn = 0; turn < 40; turn++) await Promise.resolve();
    return watch.problems().map(({ code }) => code);
  };
  const end = async (): Promise<void> => {
    ending.abort(new Error("end of the test"));
    await running;
  };
  return { world, seen, round, end };
}

function leaseAt(index: number): LeaseReport {
  const address = ipv4FromNumber(ipv4Number(FIRST) + index);
  const nobody = { hardwareAddress: null, dnsLabel: null, starts: null, ends: null };
  return { address, state: "active", inUse: true, allocatable: false, ...nobody };
}

it("walks the leases once for all changes of a round, and not at all without any", async () => {
  const { world, seen, round, end } = setUp();
  expect(await round()).toEqual([]);
  world.used = 4;
  expect(await round()).toEqual([]);
  expect(seen.walks).toBe(1);
  for (let i = 0; i < 100; i++) world.changed();
  expect(await round()).toEqual(["pool-nearly-exhausted"]);
  expect(await round()).toEqual(["pool-nearly-exhausted"]);
  expect(seen).toEqual({ walks: 2, changes: 1 });
  world.used = 3;
  world.changed();
  expect(await round()).toEqual([]);
  expect(seen).toEqual({ walks: 3, changes: 2 });
  await end();
});

it("names who asked for two rounds, and forgets them where nothing is served any more", async () => {
  const { world, round, end } = setUp();
  world.log = { lines: [OFFERED], isGap: false };
  expect([await round(), await round(), await round()]).toEqual([[], [], ["no-lease-granted"]]);
  world.served = false;
  expect(await round()).toEqual([]);
  world.served = true;
  expect(await round()).toEqual([]);
  await end();
});

it("where lines are missing only those who were turned away are remembered", async () => {
  const { world, round, end } = setUp();
  world.log = { lines: [OFFERED], isGap: true };
  expect([await round(), await round(), await round()]).toEqual([[], [], []]);
  world.log = { lines: [TURNED_AWAY], isGap: true };
  expect([await round(), await round(), await round()]).toEqual([[], [], ["no-lease-granted"]]);
  await end();
});

it("reports a log that cannot be read, and goes on", async () => {
  const { world, round, end } = setUp();
  world.failing = new EnvironmentError("log-unusable", "dhcpd.log", "failed to use the log");
  expect(await round()).toEqual(["log-unusable"]);
  world.failing = null;
  expect(await round()).toEqual([]);
  await end();
});
