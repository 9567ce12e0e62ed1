import { silentLog, systemClock } from "@berth/host";
import SqliteDatabase from "better-sqlite3";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createMemoryStore, MemoryDisk } from "../../../packages/coordinator/src/store/memory-store.js";
import { createSqliteStore } from "../../../packages/coordinator/src/store/sqlite-store.js";
import type { Store } from "../../../packages/coordinator/src/store/store.js";
import { subnet } from "./store-contract.js";

const ports = { clock: systemClock, log: silentLog };
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-store-"));
});
afterEach(() => rm(folder, { recursive: true }));

const disk = new MemoryDisk();
const engines: readonly (readonly [string, () => Promise<Store>])[] = [
  ["SQLite", () => createSqliteStore(folder, ports)],
  ["memory", () => Promise.resolve(createMemoryStore(disk))],
];

test.each(engines)("%s keeps API tokens by name, each name and digest once", async (_engine, open) => {
  let store = await open();
  const ci = {
    id: "t-1",
    name: "ci",
    role: "operate",
    digest: "d1",
    createdAt: 5,
    createdBy: "token admin",
    expiresAt: null,
  } as const;
  const alarm = { ...ci, id: "t-2", name: "alarm", role: "read", digest: "d2", expiresAt: 1_800_000_000_000 } as const;
  await store.apiTokens.add(ci);
  await store.apiTokens.add(alarm);
  for (const same of [
    { ...alarm, id: "t-3", digest: "d3" },
    { ...alarm, id: "t-3", name: "third" },
  ])
    await expect(store.apiTokens.add(same)).rejects.toMatchObject({ code: "store-conflict" });
  await store.close();
  store = await open();
  expect(await store.apiTokens.list()).toEqual([alarm, ci]);
  await store.apiTokens.remove("t-2");
  await store.apiTokens.remove("t-2");
  expect(await store.apiTokens.list()).toEqual([ci]);
  await store.close();
});

test("a filled database from before there were API tokens gets their table and keeps the rest", async () => {
  const before = await createSqliteStore(folder, ports);
  await before.ledger.commit([{ table: "subnet", before: null, after: subnet }], []);
  await before.close();
  const old = new SqliteDatabase(join(folder, "berth.sqlite"));
  old.exec("drop table api_token");
  expect(old.prepare("delete from kysely_migration where name like '%-api-token'").run().changes).toBe(1);
  old.close();
  const store = await createSqliteStore(folder, ports);
  expect(await store.apiTokens.list()).toEqual([]);
  expect((await store.ledger.load()).content.subnets).toEqual([subnet]);
  await store.close();
});
