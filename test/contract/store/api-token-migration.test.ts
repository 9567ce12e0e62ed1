import { silentLog, systemClock } from "@berth/host";
import SqliteDatabase from "better-sqlite3";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createSqliteStore } from "../../../packages/coordinator/src/store/sqlite-store.js";
import { subnet } from "./store-contract.js";

const ports = { clock: systemClock, log: silentLog };
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-store-"));
});
afterEach(() => rm(folder, { recursive: true }));

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
