import { ipAddress, parseHardwareAddress, type HardwareAddress } from "@berth/core";
import { EnvironmentError, silentLog, systemClock, type Clock } from "@berth/host";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { Ledger } from "../../../packages/coordinator/src/ledger/ledger.js";
import { openLedger } from "../../../packages/coordinator/src/ledger/open-ledger.js";
import { createPostgresStore } from "../../../packages/coordinator/src/store/postgres/postgres-store.js";
import type { Store } from "../../../packages/coordinator/src/store/store.js";
import { PostgresServer } from "./postgres-server.js";

let server: PostgresServer;
let databases = 0;
const open: Store[] = [];

beforeAll(async () => {
  server = await PostgresServer.create(["fsync=off"]);
});
afterAll(() => server.remove());
afterEach(async () => {
  await Promise.all(open.splice(0).map((store) => store.close()));
});

function newDatabase(): Promise<string> {
  databases += 1;
  return server.createDatabase(`trouble${databases}`);
}

async function coordinator(url: string, clock: Clock = systemClock): Promise<{ store: Store; ledger: Ledger }> {
  const ports = { clock, log: silentLog };
  const store = await createPostgresStore(url, ports);
  open.push(store);
  return { store, ledger: await openLedger({ ...ports, store, racks: () => [] }) };
}

function nic(number: number): HardwareAddress {
  const address = parseHardwareAddress(`02:00:00:00:${(number >> 8).toString(16)}:${(number & 255).toString(16)}`);
  if (address === null) throw new Error("not a NIC");
  return address;
}

async function failureOf(attempt: Promise<unknown>): Promise<EnvironmentError> {
  const error: unknown = await attempt.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof EnvironmentError)) throw new Error("it came through, or failed on a bug", { cause: error });
  return error;
}

const network = { prefix: "10.0.0.0/16", domain: "example.com", mode: "static" } as const;

test("a user without the right to write is named, and reads go on", async () => {
  const name = await newDatabase();
  const { store } = await coordinator(server.url(name));
  await store.close();
  await server.ask(name, (sql) =>
    sql.unsafe(`create role reader${databases} login; grant select on all tables in schema public to reader${databases}`),
  );
  const url = server.url(name).replace("berth@", `reader${databases}@`);
  const { ledger } = await coordinator(url);
  const failure = await failureOf(ledger.createSubnet(network));
  expect(failure).toMatchObject({ code: "store-unwritable", message: expect.stringContaining("may not be written") as string });
  expect(ledger.subnets()).toEqual([]);
  await server.ask(name, (sql) =>
    sql.unsafe(
      `grant all on all tables in schema public to reader${databases}; grant all on all sequences in schema public to reader${databases}`,
    ),
  );
  expect(await ledger.createSubnet(network)).toMatchObject({ ok: true });
});

test("a locked database is named, and what was known is read meanwhile", async () => {
  const name = await newDatabase();
  const { ledger } = await coordinator(server.url(name));
  await ledger.createSubnet(network);
  await server.ask(name, async (sql) => {
    await sql`begin`;
    await sql`lock table ledger in access exclusive mode`;
    const failure = await failureOf(ledger.enroll({ nics: [nic(1)], subnet: "1" }));
    expect(failure).toMatchObject({ code: "store-unwritable", message: expect.stringContaining("another program") as string });
    expect(ledger.subnets()).toHaveLength(1);
    expect(ledger.allocations()).toEqual([]);
    await sql`rollback`;
  });
  expect(await ledger.enroll({ nics: [nic(1)], subnet: "1" })).toMatchObject({ ok: true });
});

test("a database from a newer version is refused by name and left as it is", async () => {
  const name = await newDatabase();
  await coordinator(server.url(name));
  await server.ask(
    name,
    (sql) => sql`insert into kysely_migration (name, timestamp) values ('9999-from-the-future', '2030-01-01')`,
  );
  const failure = await failureOf(coordinator(server.url(name)));
  expect(failure).toMatchObject({ code: "store-newer", message: expect.stringContaining("9999-from-the-future") as string });
  const after = await server.ask(name, (sql) => sql`select name from kysely_migration order by name desc limit 1`);
  expect(after[0]).toMatchObject({ name: "9999-from-the-future" });
});

test("a clock that is set back gives no address away and holds nothing up", async () => {
  let offset = 0;
  const clock: Clock = { ...systemClock, now: () => Date.now() + offset };
  const { ledger } = await coordinator(server.url(await newDatabase()), clock);
  await ledger.createSubnet({ ...network, prefix: "10.0.0.0/30" });
  const first = await ledger.enroll({ nics: [nic(1)], subnet: "1" });
  await ledger.release(nic(1));
  offset = -86_400_000;
  const other = await ledger.enroll({ nics: [nic(2)], subnet: "1" });
  if (!first.ok || !other.ok) throw new Error("refused");
  expect(other.value.allocation.address).not.toBe(first.value.allocation.address);
  expect(await ledger.enroll({ nics: [nic(3)], subnet: "1" })).toMatchObject({ ok: false });
  expect(await ledger.enroll({ nics: [nic(1)], subnet: "1" })).toMatchObject({
    ok: true,
    value: { allocation: { address: first.value.allocation.address } },
  });
});

test("a database that cannot be reached, or does not let us in, is named with what each host said and without the password", async () => {
  const name = await newDatabase();
  const wrong = `postgres://berth:secret@127.0.0.1:${server.port}/nowhere`;
  const failure = await failureOf(coordinator(wrong));
  expect(failure).toMatchObject({ code: "store-unreachable", at: `postgres://127.0.0.1:${server.port}/nowhere` });
  expect(JSON.stringify([failure.message, failure.remedy])).not.toContain("secret");
  const one = await coordinator(server.url(name).replace("@", "@127.0.0.1:1,"));
  expect(await one.ledger.createSubnet({ ...network, gateway: ipAddress("10.0.0.1") })).toMatchObject({ ok: true });
});

test("a full disk is named, loses nothing, and is written again when there is room", async () => {
  const full = await PostgresServer.create(["fsync=off"], { smallDisk: true });
  try {
    await full.ask("postgres", (sql) => sql.unsafe(`create tablespace small location '${full.smallDisk}'`));
    await full.ask("postgres", (sql) => sql`create database region tablespace small`);
    const { ledger } = await coordinator(full.url("region"));
    await ledger.createSubnet(network);
    await ledger.enroll({ nics: [nic(1)], subnet: "1" });
    await full.ask("region", (sql) => sql`create table ballast as select 1 as filling`);
    // A new database's files have holes until its pages are written; a page in a hole could not be written on the full disk.
    await full.ask("region", (sql) => sql`checkpoint`);
    const fill = (count: number) =>
      full.ask("region", (sql) => sql`insert into ballast select n from generate_series(1, ${count}::int) n`);
    for (const count of [1_000_000, 10_000, 100])
      await expect(fillUntilRefused(() => fill(count))).rejects.toMatchObject({ code: "53100" });
    const failure = await failureOf(enrollUntilRefused(ledger));
    expect(failure).toMatchObject({ code: "store-unwritable", remedy: expect.stringContaining("free space") as string });
    const acknowledged = ledger.allocations();
    expect(acknowledged.length).toBeGreaterThan(0);
    await full.ask("region", (sql) => sql`drop table ballast`);
    expect(await ledger.enroll({ nics: [nic(60_000)], subnet: "1" })).toMatchObject({ ok: true });
    const { ledger: reloaded } = await coordinator(full.url("region"));
    expect(reloaded.allocations()).toEqual(expect.arrayContaining([...acknowledged]));
    expect(reloaded.allocations()).toHaveLength(acknowledged.length + 1);
    await Promise.all(open.splice(0).map((store) => store.close()));
  } finally {
    await full.remove();
  }
});

async function fillUntilRefused(fill: () => Promise<unknown>): Promise<void> {
  for (let step = 0; step < 1000; step++) await fill();
}

async function enrollUntilRefused(ledger: Ledger): Promise<void> {
  for (let step = 0; step < 200; step++) {
    const group = Array.from({ length: 100 }, (_, machine) => nic(100 + step * 100 + machine));
    await Promise.all(group.map((own) => ledger.enroll({ nics: [own], subnet: "1" })));
  }
}
