import { ipPrefix, type Subnet } from "@berth/core";
import { silentLog, systemClock } from "@berth/host";
import SqliteDatabase, { type Database } from "better-sqlite3";
import { Kysely, Migrator } from "kysely";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { migrations } from "../../../packages/coordinator/src/store/migrations.js";
import { sqliteDialect } from "../../../packages/coordinator/src/store/sqlite-dialect.js";
import { createSqliteStore } from "../../../packages/coordinator/src/store/sqlite-store.js";
import { apiTokensContract } from "./api-tokens-contract.js";
import { namesContract } from "./names-contract.js";
import { wireContract } from "./wire-contract.js";
import type { Tables } from "../../../packages/coordinator/src/store/tables.js";
import { checkUpgraded, desiredState, plansContract } from "./plans-contract.js";
import { storeContract, subnet, type StoreUnderTest } from "./store-contract.js";

const ports = { clock: systemClock, log: silentLog };

async function sqlite(): Promise<StoreUnderTest> {
  const data = await mkdtemp(join(tmpdir(), "berth-store-"));
  return { open: () => createSqliteStore(data, ports), discard: () => rm(data, { recursive: true }) };
}

storeContract("the SQLite store", sqlite);
namesContract("the SQLite store", sqlite);
plansContract("the SQLite store", sqlite);
apiTokensContract("the SQLite store", sqlite);
wireContract("the SQLite store", sqlite);

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-store-"));
});
afterEach(() => rm(folder, { recursive: true }));

test("a second store on the same folder is refused, and the folder is free again after the first closes", async () => {
  const store = await createSqliteStore(folder, ports);
  await expect(createSqliteStore(folder, ports)).rejects.toMatchObject({
    name: "EnvironmentError",
    code: "data-folder-in-use",
    at: folder,
  });
  await store.settings.set("still", "works");
  await store.close();
  const next = await createSqliteStore(folder, ports);
  expect(await next.settings.get("still")).toBe("works");
  await next.close();
});

test("others may read the database while it is in use", async () => {
  const store = await createSqliteStore(folder, ports);
  await store.settings.set("region", "a");
  const reader = new SqliteDatabase(join(folder, "berth.sqlite"), { readonly: true });
  expect(reader.prepare("select value from setting").pluck().all()).toEqual(["a"]);
  reader.close();
  await store.close();
});

test("a database from a newer version is refused by name and left as it is", async () => {
  await (await createSqliteStore(folder, ports)).close();
  const file = join(folder, "berth.sqlite");
  const newer = new SqliteDatabase(file);
  const migrations = newer.prepare("select name from kysely_migration").pluck().all();
  newer.prepare("insert into kysely_migration (name, timestamp) values ('9999-from-the-future', '2030-01-01')").run();
  newer.close();
  await expect(createSqliteStore(folder, ports)).rejects.toMatchObject({
    code: "store-newer",
    at: file,
    message: expect.stringContaining("9999-from-the-future") as string,
  });
  const after = new SqliteDatabase(file, { readonly: true });
  expect(after.prepare("select name from kysely_migration").pluck().all()).toEqual([...migrations, "9999-from-the-future"]);
  after.close();
});

test("a database of the first version is brought to this one with all it holds", async () => {
  const old = new Kysely<Tables>({ dialect: sqliteDialect(new SqliteDatabase(join(folder, "berth.sqlite"))) });
  const { error } = await new Migrator({ db: old, provider: migrations }).migrateTo("0001-first-schema");
  expect(error).toBeUndefined();
  await old.insertInto("setting").values({ name: "region", value: "a" }).execute();
  await old.insertInto("machine").values({ id: "m-1", name: "db1", state: "enrolled", created_at: 5 }).execute();
  await old.updateTable("ledger").set({ revision: 7, next_subnet: 3 }).execute();
  await old.destroy();
  const next = await createSqliteStore(folder, ports);
  expect(await next.settings.get("region")).toBe("a");
  expect(await next.topology.load()).toEqual({ racks: [], addresses: [], seenAt: null });
  const machines = [{ id: "m-1", name: "db1", state: "enrolled", nics: [], createdAt: 5 }];
  const content = { machines, reservations: [], records: [], answers: [], nextSubnetId: 3 };
  expect(await next.ledger.load()).toMatchObject({ revision: 7, content });
  expect(await next.apiTokens.list()).toEqual([]);
  await next.close();
});

/** A database whose process is gone from one statement on: nothing more is said to it, no rollback either. */
function diesAt(statement: number): { readonly database: Database; readonly died: () => boolean } {
  const database = new SqliteDatabase(join(folder, "berth.sqlite"));
  let count = 0;
  const prepare = database.prepare.bind(database);
  database.prepare = (text: string) => {
    if (++count >= statement) throw new Error("killed");
    return prepare(text);
  };
  return { database, died: () => count >= statement };
}

test("a coordinator killed at any statement of a migration starts again, with all the database holds", async () => {
  let statement = 0;
  for (let died = true; died; statement++) {
    await rm(join(folder, "berth.sqlite"), { force: true });
    const old = new SqliteDatabase(join(folder, "berth.sqlite"));
    const begun = new Kysely<Tables>({ dialect: sqliteDialect(old) });
    await new Migrator({ db: begun, provider: migrations }).migrateTo("0001-first-schema");
    await begun.insertInto("setting").values({ name: "region", value: "a" }).execute();
    await begun.destroy();
    const doomed = diesAt(statement + 1);
    const query = new Kysely<Tables>({ dialect: sqliteDialect(doomed.database) });
    await new Migrator({ db: query, provider: migrations }).migrateToLatest().catch(() => undefined);
    died = doomed.died();
    doomed.database.close();
    const next = await createSqliteStore(folder, ports);
    expect(await next.settings.get("region")).toBe("a");
    await next.close();
  }
  expect(statement).toBeGreaterThan(30);
});

test("desired states of a database without their changes are there, and changes can be added", async () => {
  await (await createSqliteStore(folder, ports)).close();
  const old = new SqliteDatabase(join(folder, "berth.sqlite"));
  old.exec("drop table desired_change; delete from kysely_migration where name = '0010-desired-change'");
  old.prepare("insert into desired values (?, ?, ?, ?)").run("r-1", 7, "old", JSON.stringify(desiredState));
  old.close();
  await checkUpgraded(() => createSqliteStore(folder, ports));
});

test("a file that is no database is refused as damaged and left as it is", async () => {
  await writeFile(join(folder, "berth.sqlite"), "this is a text file, and a long one at that".repeat(20));
  await expect(createSqliteStore(folder, ports)).rejects.toMatchObject({ code: "store-damaged" });
});

test("a data folder that cannot be one is refused by its path", async () => {
  const path = join(folder, "file");
  await writeFile(path, "");
  await expect(createSqliteStore(path, ports)).rejects.toMatchObject({ code: "data-folder-unusable", at: path });
});

test("a locked database is an error with a remedy, and reads go on", async () => {
  const store = await createSqliteStore(folder, ports);
  await store.settings.set("region", "a");
  const other = new SqliteDatabase(join(folder, "berth.sqlite"));
  other.exec("begin immediate");
  const attempt = store.ledger.commit([{ table: "subnet", before: null, after: subnet }], []);
  await expect(attempt).rejects.toMatchObject({ code: "store-unwritable", remedy: expect.stringContaining("program") as string });
  expect(await store.settings.get("region")).toBe("a");
  other.exec("rollback");
  other.close();
  await store.ledger.commit([{ table: "subnet", before: null, after: subnet }], []);
  await store.close();
});

test("only the owner can read the data folder's files", async () => {
  await chmod(folder, 0o755);
  const store = await createSqliteStore(folder, ports);
  await store.settings.set("a", "b");
  const { stat, readdir } = await import("node:fs/promises");
  for (const name of await readdir(folder)) expect([name, (await stat(join(folder, name))).mode & 0o077]).toEqual([name, 0]);
  await store.close();
});

test("says that it cannot be written as long as that is so, whoever noticed", async () => {
  const store = await createSqliteStore(folder, ports);
  await store.settings.set("region", "a");
  expect(store.problem()).toBeNull();
  const other = new SqliteDatabase(join(folder, "berth.sqlite"));
  other.exec("begin immediate");
  await expect(store.settings.set("region", "b")).rejects.toMatchObject({ code: "store-unwritable" });
  expect(store.problem()).toMatchObject({
    code: "store-unwritable",
    message: expect.stringContaining("no change is taken") as string,
    remedy: expect.stringContaining("end the program") as string,
  });
  expect(await store.settings.get("region")).toBe("a");
  expect(store.problem()).not.toBeNull();
  other.exec("rollback");
  await store.tokens.remove("no such token");
  expect(store.problem()).not.toBeNull();
  await store.settings.set("region", "b");
  expect(store.problem()).toBeNull();
  other.close();
  await store.close();
}, 20_000);

test("keeps an enlistment that another mode does not use apart from one in use", async () => {
  const enlistment = { pool: ipPrefix("10.9.0.0/16"), sliceLength: 24, leaseTime: 120 };
  const resting: Subnet = { ...subnet, id: 2, prefix: ipPrefix("192.168.51.0/24"), formerEnlistment: enlistment };
  const used: Subnet = { ...subnet, id: 3, prefix: ipPrefix("192.168.52.0/24"), mode: "link-local", window: null, enlistment };
  const store = await createSqliteStore(folder, ports);
  const changes = [resting, used].map((after) => ({ table: "subnet" as const, before: null, after }));
  await store.ledger.commit(changes, []);
  await store.close();
  const next = await createSqliteStore(folder, ports);
  expect((await next.ledger.load()).content.subnets).toEqual([resting, used]);
  await next.close();
});
