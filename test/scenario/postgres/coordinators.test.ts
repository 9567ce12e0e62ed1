import { ipAddress, parseHardwareAddress, type HardwareAddress } from "@berth/core";
import { silentLog, systemClock } from "@berth/host";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { Ledger } from "../../../packages/coordinator/src/ledger/ledger.js";
import { openLedger } from "../../../packages/coordinator/src/ledger/open-ledger.js";
import { createPostgresStore } from "../../../packages/coordinator/src/store/postgres/postgres-store.js";
import type { Store } from "../../../packages/coordinator/src/store/store.js";
import { waitUntil } from "../../lab/wait-until.js";
import { PostgresServer } from "./postgres-server.js";

const ports = { clock: systemClock, log: silentLog };

interface Coordinator {
  readonly store: Store;
  readonly ledger: Ledger;
  end(): Promise<void>;
}

let server: PostgresServer;
let databases = 0;
let database: string;
let coordinators: Coordinator[] = [];

beforeAll(async () => {
  server = await PostgresServer.create(["fsync=off"]);
});
afterAll(() => server.remove());
beforeEach(async () => {
  databases += 1;
  database = await server.createDatabase(`shared${databases}`);
});
afterEach(async () => {
  await Promise.all(coordinators.map((coordinator) => coordinator.end()));
  coordinators = [];
});

async function start(): Promise<Coordinator> {
  const store = await createPostgresStore(server.url(database), ports);
  const ledger = await openLedger({ ...ports, store, racks: () => [] });
  const ending = new AbortController();
  const running = ledger.run(ending.signal);
  const coordinator = {
    store,
    ledger,
    end: async () => {
      ending.abort();
      await running;
      await ledger.settled();
      await store.close();
    },
  };
  coordinators.push(coordinator);
  return coordinator;
}

function nic(number: number): HardwareAddress {
  const address = parseHardwareAddress(`02:00:00:00:${(number >> 8).toString(16)}:${(number & 255).toString(16)}`);
  if (address === null) throw new Error("not a NIC");
  return address;
}

function content({ ledger }: Coordinator): unknown {
  const byText = (list: readonly unknown[]): string[] => list.map((record) => JSON.stringify(record)).sort();
  return [byText(ledger.subnets()), byText(ledger.machines()), byText(ledger.allocations()), byText(ledger.quarantines())];
}

test("coordinators that start on an empty database at the same moment all come up", async () => {
  const [first, second] = await Promise.all([start(), start(), start()]);
  await first.ledger.createSubnet({ prefix: "10.0.0.0/24", domain: "example.com", mode: "static" });
  await waitUntil(() => second.ledger.subnets().length === 1, { describe: "the subnet on the second coordinator" });
});

test("a second coordinator sees every change within a second, in order and none left out", async () => {
  const [first, second] = await Promise.all([start(), start()]);
  await first.ledger.createSubnet({ prefix: "10.0.0.0/24", domain: "example.com", mode: "static" });
  const late: number[] = [];
  const seen: number[] = [];
  second.ledger.onChange(() => seen.push(second.ledger.allocations().length));
  for (let machine = 1; machine <= 30; machine++) {
    const enrolled = await first.ledger.enroll({ nics: [nic(machine)], subnet: "1" });
    expect(enrolled.ok).toBe(true);
    const answered = performance.now();
    await waitUntil(() => second.ledger.allocations().some(({ nics }) => nics[0] === nic(machine)), {
      describe: `machine ${machine} on the second coordinator`,
      deadlineMs: 1000,
      everyMs: 5,
    });
    late.push(performance.now() - answered);
  }
  expect(seen).toEqual([...seen].sort((a, b) => a - b));
  expect(content(second)).toEqual(content(first));
  expect(late.length).toBe(30);
});

test("without notifications the second coordinator looks by itself", async () => {
  const [first, second] = await Promise.all([start(), start()]);
  const mute = setInterval(() => void endListeners().catch(() => undefined), 50);
  try {
    await first.ledger.createSubnet({ prefix: "10.0.0.0/24", domain: "example.com", mode: "static" });
    await waitUntil(() => second.ledger.subnets().length === 1, { describe: "the subnet", deadlineMs: 1500 });
  } finally {
    clearInterval(mute);
  }
});

function endListeners(): Promise<unknown> {
  return server.ask(
    database,
    (sql) => sql`select pg_terminate_backend(pid) from pg_stat_activity where query ilike 'listen%' and pid <> pg_backend_pid()`,
  );
}

test("parallel callers of three coordinators never share an address, and what each was told is there", async () => {
  const three = await Promise.all([start(), start(), start()]);
  const [first] = three;
  await first.ledger.createSubnet({ prefix: "10.0.0.0/25", domain: "example.com", mode: "static" });
  await waitUntil(() => three.every(({ ledger }) => ledger.subnets().length === 1), { describe: "the subnet everywhere" });
  const told = new Map<HardwareAddress, string>();
  const callers = Array.from({ length: 24 }, async (_, caller) => {
    const { ledger } = three[caller % 3] ?? first;
    for (let step = 0; step < 12; step++) {
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
  const [row] = await server.ask(database, (sql) => sql<{ revision: string }[]>`select revision from ledger`);
  const revision = Number(row?.revision);
  await waitUntil(() => three.every(({ ledger }) => ledger.revision === revision), { describe: "all at the last revision" });
  for (const coordinator of three) expect(content(coordinator)).toEqual(content(first));
  const held = first.ledger.allocations();
  expect(new Map(held.map(({ nics, address }) => [nics[0], address]))).toEqual(told);
  expect(new Set(held.map(({ address }) => address)).size).toBe(held.length);
});

test("the same request on another coordinator gets the same answer, and another's name is refused by who holds it", async () => {
  const [first, second] = await Promise.all([start(), start()]);
  await first.ledger.createSubnet({ prefix: "10.0.0.0/24", domain: "example.com", mode: "static" });
  await waitUntil(() => second.ledger.subnets().length === 1, { describe: "the subnet" });
  const [one, other] = await Promise.all([
    first.ledger.enroll({ nics: [nic(1)], subnet: "1" }),
    second.ledger.enroll({ nics: [nic(1)], subnet: "1" }),
  ]);
  if (!one.ok || !other.ok) throw new Error("refused");
  expect(other.value.allocation).toEqual(one.value.allocation);
  expect([one.value.created, other.value.created].sort()).toEqual([false, true]);
  const races = await Promise.all([
    first.ledger.enroll({ nics: [nic(2)], subnet: "1", address: ipAddress("10.0.0.77") }),
    second.ledger.enroll({ nics: [nic(3)], subnet: "1", address: ipAddress("10.0.0.77") }),
  ]);
  expect(races.filter(({ ok }) => ok)).toHaveLength(1);
  const refused = races.find(({ ok }) => !ok);
  expect(refused).toMatchObject({ problems: [{ message: expect.stringContaining("10.0.0.77") as string }] });
});

test("who missed more commits than are kept takes the whole ledger anew", async () => {
  const first = await start();
  const stale = await openLedger({ ...ports, store: await staleStore(), racks: () => [] });
  await first.ledger.createSubnet({ prefix: "10.0.0.0/24", domain: "example.com", mode: "static" });
  await first.ledger.enroll({ nics: [nic(1)], subnet: "1" });
  await server.ask(database, (sql) => sql`delete from ledger_change`);
  expect(await stale.enroll({ nics: [nic(2)], subnet: "1" })).toMatchObject({ ok: true, value: { created: true } });
  expect(stale.allocations().map(({ nics }) => nics[0])).toEqual([nic(1), nic(2)]);
});

test("a database that went back to an older state is taken as it is", async () => {
  const first = await start();
  await first.ledger.createSubnet({ prefix: "10.0.0.0/24", domain: "example.com", mode: "static" });
  await first.ledger.enroll({ nics: [nic(1)], subnet: "1" });
  await server.ask(database, async (sql) => {
    await sql`delete from allocation`;
    await sql`update ledger set revision = 1, head = (select commit_id from ledger_change where revision = 1)`;
    await sql`delete from ledger_change where revision > 1`;
  });
  await waitUntil(() => first.ledger.allocations().length === 0, { describe: "the older ledger", deadlineMs: 5000 });
  const again = await first.ledger.enroll({ nics: [nic(1)], subnet: "1" });
  expect(again).toMatchObject({ ok: true });
  expect(first.ledger.revision).toBe(2);
});

async function staleStore(): Promise<Store> {
  const store = await createPostgresStore(server.url(database), ports);
  coordinators.push({ store, ledger: await openLedger({ ...ports, store, racks: () => [] }), end: () => store.close() });
  return store;
}
