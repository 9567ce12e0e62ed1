import { parseHardwareAddress, type HardwareAddress } from "@berth/core";
import { silentLog, systemClock } from "@berth/host";
import type { Sql } from "postgres";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { Ledger } from "../../../packages/coordinator/src/ledger/ledger.js";
import { openLedger } from "../../../packages/coordinator/src/ledger/open-ledger.js";
import { TAKE_TURN } from "../../../packages/coordinator/src/store/postgres/postgres-ledger.js";
import { createPostgresStore } from "../../../packages/coordinator/src/store/postgres/postgres-store.js";
import type { LedgerStore, Store } from "../../../packages/coordinator/src/store/store.js";
import { waitUntil } from "../../lab/wait-until.js";
import { PostgresServer } from "./postgres-server.js";

const ports = { clock: systemClock, log: silentLog };
/** Longer than the server lets anybody be mute in a turn. */
const MUTE_MS = 2500;
let server: PostgresServer;
let databases = 0;
let database: string;
let stores: Store[] = [];

beforeAll(async () => {
  server = await PostgresServer.create(["fsync=off"]);
});
afterAll(() => server.remove());
beforeEach(async () => {
  databases += 1;
  database = await server.createDatabase(`turns${databases}`);
});
afterEach(async () => {
  await Promise.all(stores.map((store) => store.close()));
  stores = [];
});

/** A coordinator; `inDecision` is called in each turn of its, once it has the turn. */
async function open(inDecision: () => void = () => undefined): Promise<Ledger> {
  const store = await createPostgresStore(server.url(database), ports);
  stores.push(store);
  const { shared } = store.ledger;
  if (shared === null) throw new Error("not shared");
  const ledger: LedgerStore = {
    load: () => store.ledger.load(),
    loadState: () => store.ledger.loadState(),
    commit: (changes, audit) => store.ledger.commit(changes, audit),
    shared: {
      news: () => shared.news(),
      watch: (listener, signal) => shared.watch(listener, signal),
      inTurn: (decide) =>
        shared.inTurn((news) => {
          inDecision();
          return decide(news);
        }),
    },
  };
  return openLedger({ ...ports, store: { ledger }, racks: () => [] });
}

function nic(number: number): HardwareAddress {
  const address = parseHardwareAddress(`02:00:00:00:00:${number.toString(16)}`);
  if (address === null) throw new Error("not a NIC");
  return address;
}

/** The second has missed a commit, so that its next one is made in turn. */
async function two(inDecision?: () => void): Promise<readonly [Ledger, Ledger]> {
  const first = await open();
  await first.createSubnet({ prefix: "10.0.0.0/24", domain: "example.com", mode: "static" });
  const second = await open(inDecision);
  await first.enroll({ nics: [nic(1)], subnet: "1" });
  return [first, second];
}

async function stored(): Promise<readonly string[]> {
  const ledger = await open();
  return ledger.allocations().map(({ nics, address }) => `${nics[0]} ${address}`);
}

/** Takes the turn as a coordinator would and does nothing more; answers the process of the server that has it. */
async function takeTurn(sql: Sql): Promise<number> {
  await sql`begin`;
  await sql.unsafe(TAKE_TURN.sql, [...TAKE_TURN.parameters] as never[]);
  const [own] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
  return own?.pid ?? 0;
}

test("a turn is waited for, and a coordinator that dies in it gives it back", async () => {
  const [, second] = await two();
  await server.ask(database, async (sql) => {
    const pid = await takeTurn(sql);
    let answered = false;
    const enrolled = second.enroll({ nics: [nic(2)], subnet: "1" }).finally(() => (answered = true));
    const waits = (): Promise<readonly unknown[]> =>
      server.ask(database, (other) => other`select from pg_stat_activity where wait_event_type = 'Lock'`);
    await waitUntil(async () => (await waits()).length > 0, { describe: "somebody waits for the turn" });
    expect(answered).toBe(false);
    await server.ask(database, (other) => other`select pg_terminate_backend(${pid})`);
    expect(await enrolled).toMatchObject({ ok: true, value: { allocation: { address: "10.0.0.2" } } });
  });
});

test("a coordinator that is mute in its turn loses it, and nobody's request fails", async () => {
  const [, second] = await two();
  await server.ask(database, async (sql) => {
    const pid = await takeTurn(sql);
    expect(await second.enroll({ nics: [nic(2)], subnet: "1" })).toMatchObject({ ok: true });
    expect(await server.ask(database, (other) => other`select from pg_stat_activity where pid = ${pid}`)).toHaveLength(0);
  });
});

test("who comes back after his turn is over commits where nobody was first, and decides anew where somebody was", async () => {
  let mute = 1;
  const [first, second] = await two(() => {
    if (mute-- > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, MUTE_MS);
  });
  expect(await second.enroll({ nics: [nic(2)], subnet: "1" })).toMatchObject({ ok: true });
  mute = 1;
  const both = await Promise.all([first, second].map((ledger, index) => ledger.enroll({ nics: [nic(3 + index)], subnet: "1" })));
  expect(both.map(({ ok }) => ok)).toEqual([true, true]);
  const all = await stored();
  expect(new Set(all.map((each) => each.split(" ")[1])).size).toBe(4);
  expect(all).toHaveLength(4);
});

test("whatever a turn is about is committed: what only adds, what changes, and many at once", async () => {
  const [first, second] = await two();
  for (let step = 0; step < 70; step++) {
    const [own, other] = step % 2 === 0 ? [first, second] : [second, first];
    expect(await own.enroll({ nics: [nic(2 + (step % 5))], subnet: "1" })).toMatchObject({ ok: true });
    if (step % 3 === 0) expect(await other.release(nic(2 + (step % 5)))).toMatchObject({ ok: true });
  }
  const last = await second.enroll({ nics: [nic(9)], subnet: "1" });
  const repeated = await first.enroll({ nics: [nic(9)], subnet: "1" });
  if (!last.ok || !repeated.ok) throw new Error("refused");
  expect([repeated.value.created, repeated.value.allocation]).toEqual([false, last.value.allocation]);
  expect([...(await stored())].sort()).toEqual(
    first
      .allocations()
      .map(({ nics, address }) => `${nics[0]} ${address}`)
      .sort(),
  );
});
