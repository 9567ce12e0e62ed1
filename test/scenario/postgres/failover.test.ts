import { parseHardwareAddress, type HardwareAddress } from "@berth/core";
import { silentLog, systemClock } from "@berth/host";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Ledger } from "../../../packages/coordinator/src/ledger/ledger.js";
import { openLedger } from "../../../packages/coordinator/src/ledger/open-ledger.js";
import { createPostgresStore } from "../../../packages/coordinator/src/store/postgres/postgres-store.js";
import { waitUntil } from "../../lab/wait-until.js";
import { PostgresServer } from "./postgres-server.js";

const CALLERS = 8;
const ports = { clock: systemClock, log: silentLog };
let primary: PostgresServer;
let standby: PostgresServer;

beforeEach(async () => {
  // What is answered must be on the standby too, else a failover loses it, whoever asks.
  primary = await PostgresServer.create(["fsync=off"]);
  await primary.createDatabase("region");
  standby = await primary.createStandby(["fsync=off"]);
  await primary.streams();
  await primary.ask("postgres", (sql) => sql`alter system set synchronous_standby_names = '*'`);
  await primary.ask("postgres", (sql) => sql`select pg_reload_conf()`);
});
afterEach(async () => {
  await standby.remove();
  await primary.remove();
});

function nic(number: number): HardwareAddress {
  const address = parseHardwareAddress(`02:00:00:00:${(number >> 8).toString(16)}:${(number & 255).toString(16)}`);
  if (address === null) throw new Error("not a NIC");
  return address;
}

test("a primary dies under load and its standby takes over: callers wait, none fails, nothing answered is lost", async () => {
  const url = primary.url("region", standby);
  const ending = new AbortController();
  const both = await Promise.all(
    [0, 1].map(async () => {
      const store = await createPostgresStore(url, ports);
      const ledger = await openLedger({ ...ports, store, racks: () => [] });
      return { store, ledger, running: ledger.run(ending.signal) };
    }),
  );
  const [first, second] = both;
  if (first === undefined || second === undefined) throw new Error("no coordinators");
  await first.ledger.createSubnet({ prefix: "10.0.0.0/16", domain: "example.com", mode: "static" });
  await waitUntil(() => second.ledger.subnets().length === 1, { describe: "the subnet on both" });

  const told = new Map<HardwareAddress, string>();
  let stopped = false;
  const callers = Array.from({ length: CALLERS }, async (_, caller) => {
    const { ledger } = caller % 2 === 0 ? first : second;
    for (let step = 0; !stopped; step++) {
      const own = nic(1 + caller * 4000 + step);
      const enrolled = await ledger.enroll({ nics: [own], subnet: "1" });
      if (!enrolled.ok) throw new Error(JSON.stringify(enrolled.problems));
      told.set(own, enrolled.value.allocation.address);
    }
  });
  const all = Promise.all(callers);
  await waitUntil(() => told.size > 100, { describe: "load", deadlineMs: 30_000 });
  const readable = first.ledger.allocations().length;
  await primary.kill();
  expect(first.ledger.allocations().length).toBeGreaterThanOrEqual(readable);
  await standby.promote();
  const atPromotion = told.size;
  await Promise.race([all, waitUntil(() => told.size > atPromotion + 100, { describe: "the load goes on", deadlineMs: 60_000 })]);
  stopped = true;
  await all;

  await waitUntil(() => first.ledger.revision === second.ledger.revision, { describe: "both at one revision" });
  const stored = await addressesAfterReload(url);
  for (const [own, address] of told) expect([own, stored.get(own)]).toEqual([own, address]);
  expect(new Set(stored.values()).size).toBe(stored.size);
  ending.abort();
  for (const { store, running, ledger } of both) {
    await running;
    await ledger.settled();
    await store.close();
  }
});

async function addressesAfterReload(url: string): Promise<ReadonlyMap<string, string>> {
  const store = await createPostgresStore(url, ports);
  const ledger: Ledger = await openLedger({ ...ports, store, racks: () => [] });
  await store.close();
  return new Map(ledger.allocations().map(({ nics, address }) => [nics[0] ?? "", address]));
}
