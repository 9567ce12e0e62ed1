import { parseHardwareAddress, type HardwareAddress } from "@berth/core";
import { silentLog, systemClock } from "@berth/host";
import { Migrator } from "kysely";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { checkRegion } from "../../../packages/coordinator/src/backup/check-region.js";
import { restoreBackup } from "../../../packages/coordinator/src/backup/restore-backup.js";
import { writeBackup } from "../../../packages/coordinator/src/backup/write-backup.js";
import { openLedger } from "../../../packages/coordinator/src/ledger/open-ledger.js";
import { migrations } from "../../../packages/coordinator/src/store/migrations.js";
import { PostgresDatabase } from "../../../packages/coordinator/src/store/postgres/postgres-database.js";
import { createPostgresStore } from "../../../packages/coordinator/src/store/postgres/postgres-store.js";
import { createSqliteStore } from "../../../packages/coordinator/src/store/sqlite-store.js";
import type { Store } from "../../../packages/coordinator/src/store/store.js";
import { PostgresServer } from "./postgres-server.js";

const ports = { clock: systemClock, log: silentLog };
let server: PostgresServer;
let folder: string;

beforeAll(async () => {
  server = await PostgresServer.create(["fsync=off"]);
  folder = await mkdtemp(join(tmpdir(), "berth-backup-"));
});
afterAll(async () => {
  await server.remove();
  await rm(folder, { recursive: true });
});

function nic(number: number): HardwareAddress {
  const address = parseHardwareAddress(`02:00:00:00:${(number >> 8).toString(16)}:${(number & 255).toString(16)}`);
  if (address === null) throw new Error("not a NIC");
  return address;
}

/** All but the entry of the audit log that tells of the restore. */
async function everything(of: Store): Promise<unknown> {
  const audit = (await of.audit.list(0, 1000)).filter(({ action }) => action !== "restore-region");
  return [(await of.ledger.load()).content, await of.racks.list(), audit, await of.tokens.list()];
}

async function postgresPlace(name: string): Promise<{ data: string; database: string }> {
  return { data: join(folder, name), database: server.url(await server.createDatabase(name)) };
}

test("a region moves from SQLite to PostgreSQL and back, whole, and goes on from there", async () => {
  const first = { data: join(folder, "first"), database: null };
  const store = await createSqliteStore(first.data, ports);
  const ledger = await openLedger({ ...ports, store, racks: () => [] });
  await ledger.createSubnet({ prefix: "10.0.0.0/16", domain: "example.com", mode: "static" });
  await Promise.all(Array.from({ length: 300 }, (_, number) => ledger.enroll({ nics: [nic(number + 1)], subnet: "1" })));
  await ledger.release(nic(1));
  const before = await everything(store);
  const file = join(folder, "first.backup");
  await writeBackup(first, file, systemClock);
  await store.close();

  const second = await postgresPlace("second");
  await restoreBackup(second, file, systemClock);
  await expect(restoreBackup(second, file, systemClock)).rejects.toMatchObject({ code: "store-not-empty" });
  const shared = await createPostgresStore(second.database, ports);
  expect(await everything(shared)).toEqual(before);
  const going = await openLedger({ ...ports, store: shared, racks: () => [] });
  expect(await going.enroll({ nics: [nic(2)], subnet: "1" })).toMatchObject({ ok: true, value: { created: false } });
  expect(await going.enroll({ nics: [nic(9999)], subnet: "1" })).toMatchObject({ ok: true, value: { created: true } });
  const later = await everything(shared);

  const back = join(folder, "second.backup");
  const load = Promise.all(
    Array.from({ length: 20 }, (_, number) => going.enroll({ nics: [nic(20_000 + number)], subnet: "1" })),
  );
  await load;
  await writeBackup(second, back, systemClock);
  expect(await checkRegion(second, systemClock)).toMatchObject({ findings: [], allocations: 320 });
  await shared.close();
  const third = { data: join(folder, "third"), database: null };
  await restoreBackup(third, back, systemClock);
  const again = await createSqliteStore(third.data, ports);
  const [content] = (await everything(again)) as [{ allocations: unknown[] }];
  expect(content.allocations).toEqual(expect.arrayContaining((later as [{ allocations: unknown[] }])[0].allocations));
  await again.close();
});

test("of restores at once into one database one fills it, a coordinator that waits there follows, and its numbers go on", async () => {
  const first = { data: join(folder, "race"), database: null };
  const store = await createSqliteStore(first.data, ports);
  const ledger = await openLedger({ ...ports, store, racks: () => [] });
  await ledger.createSubnet({ prefix: "10.0.0.0/16", domain: "example.com", mode: "static" });
  for (let number = 1; number <= 20; number++) await ledger.enroll({ nics: [nic(number)], subnet: "1" });
  const file = join(folder, "race.backup");
  await writeBackup(first, file, systemClock);
  await store.close();

  const place = await postgresPlace("race");
  const shared = await createPostgresStore(place.database, ports);
  const waiting = await openLedger({ ...ports, store: shared, racks: () => [] });
  const outcomes = await Promise.allSettled(Array.from({ length: 4 }, () => restoreBackup(place, file, systemClock)));
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  for (const outcome of outcomes)
    if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: "store-not-empty" });
  expect(await waiting.enroll({ nics: [nic(2)], subnet: "1" })).toMatchObject({ ok: true, value: { created: false } });
  expect(await waiting.enroll({ nics: [nic(99)], subnet: "1" })).toMatchObject({ ok: true, value: { created: true } });
  expect(await checkRegion(place, systemClock)).toMatchObject({ findings: [], allocations: 21 });
  await shared.close();
});

test("a backup of PostgreSQL under load is one moment: no allocation without its machine", async () => {
  const place = await postgresPlace("busy");
  const store = await createPostgresStore(place.database, ports);
  const ledger = await openLedger({ ...ports, store, racks: () => [] });
  await ledger.createSubnet({ prefix: "10.0.0.0/16", domain: "example.com", mode: "static" });
  let stopped = false;
  const load = (async () => {
    for (let number = 1; !stopped; number++) await ledger.enroll({ nics: [nic(number)], subnet: "1" });
  })();
  for (let round = 0; round < 3; round++) {
    const file = join(folder, `busy${round}.backup`);
    await writeBackup(place, file, systemClock);
    const copy = { data: join(folder, `busy${round}`), database: null };
    await restoreBackup(copy, file, systemClock);
    expect(await checkRegion(copy, systemClock)).toMatchObject({ findings: [] });
  }
  stopped = true;
  await load;
  await store.close();
});

test("a filled database of the first version is brought to this one and keeps what it has", async () => {
  const { database: url } = await postgresPlace("old");
  const old = new PostgresDatabase(url, systemClock);
  const { error } = await new Migrator({ db: old.query, provider: migrations }).migrateTo("0001-first-schema");
  expect(error).toBeUndefined();
  await old.query.updateTable("ledger").set({ revision: 7, next_subnet: 3 }).execute();
  await old.query.insertInto("machine").values({ id: "m-1", name: "db1", state: "enrolled", created_at: 5 }).execute();
  await old.query
    .insertInto("nic")
    .values({ hardware_address: nic(1), machine_id: "m-1", position: 0 })
    .execute();
  await old.query.insertInto("setting").values({ name: "region", value: "a" }).execute();
  await old.close();
  const store = await createPostgresStore(url, ports);
  expect(await store.settings.get("region")).toBe("a");
  const loaded = await store.ledger.load();
  expect(loaded).toMatchObject({ revision: 7, content: { nextSubnetId: 3, machines: [{ id: "m-1", nics: [nic(1)] }] } });
  const ledger = await openLedger({ ...ports, store, racks: () => [] });
  expect(await ledger.createSubnet({ prefix: "10.0.0.0/24", domain: "example.com", mode: "static" })).toMatchObject({ ok: true });
  expect(ledger.revision).toBe(8);
  await store.close();
});
