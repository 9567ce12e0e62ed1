import { ipAddress, parseHardwareAddress, type HardwareAddress } from "@berth/core";
import { silentLog, systemClock } from "@berth/host";
import SqliteDatabase from "better-sqlite3";
import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, stat, truncate, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openLedger } from "../ledger/open-ledger.js";
import { createSqliteStore } from "../store/sqlite-store.js";
import type { Store } from "../store/store.js";
import { checkRegion } from "./check-region.js";
import { examineBackup, restoreBackup } from "./restore-backup.js";
import { writeBackup } from "./write-backup.js";

const ports = { clock: systemClock, log: silentLog };
let folder: string;
let store: Store;
const placeOf = (name: string) => ({ data: join(folder, name), database: null });

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-backup-"));
  store = await createSqliteStore(join(folder, "first"), ports);
});
afterEach(async () => {
  await store.close();
  await rm(folder, { recursive: true });
});

function nic(number: number): HardwareAddress {
  const address = parseHardwareAddress(`02:00:00:00:${(number >> 8).toString(16)}:${(number & 255).toString(16)}`);
  if (address === null) throw new Error("not a NIC");
  return address;
}

async function fill(machines: number): Promise<void> {
  const ledger = await openLedger({ ...ports, store, racks: () => [] });
  await ledger.createSubnet({ prefix: "10.0.0.0/16", domain: "example.com", mode: "static", gateway: ipAddress("10.0.0.1") });
  for (let number = 1; number <= machines; number++) await ledger.enroll({ nics: [nic(number)], subnet: "1" });
  await ledger.release(nic(1));
  await store.racks.save({
    id: "r-1",
    name: "rack1",
    site: "default",
    joinedAt: 3,
    certificateSerial: null,
    publicKeyHash: "ff",
  });
  await store.settings.set("region", "ä \u0000 \n");
}

/** All but the entry of the audit log that tells of the restore. */
async function everything(of: Store): Promise<unknown> {
  const { content } = await of.ledger.load();
  const audit = (await of.audit.list(0, 1000)).filter(({ action }) => action !== "restore-region");
  return [content, await of.racks.list(), await of.settings.get("region"), audit, await of.plans.load()];
}

test("a backup of a region in use is restored into a new folder, all of it", async () => {
  await fill(20);
  const before = await everything(store);
  const file = join(folder, "region.backup");
  const rows = await writeBackup(placeOf("first"), file, systemClock);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await examineBackup(file)).toMatchObject({ rows });
  expect(await restoreBackup(placeOf("second"), file, systemClock)).toBe(rows);
  await store.close();
  store = await createSqliteStore(join(folder, "second"), ports);
  expect(await everything(store)).toEqual(before);
  const ledger = await openLedger({ ...ports, store, racks: () => [] });
  expect(await ledger.enroll({ nics: [nic(2)], subnet: "1" })).toMatchObject({ ok: true, value: { created: false } });
  expect(await ledger.enroll({ nics: [nic(99)], subnet: "1" })).toMatchObject({ ok: true, value: { created: true } });
});

test("a reader of events who saw more than the backup has is told of the restore, and no number is used twice", async () => {
  await fill(3);
  const file = join(folder, "region.backup");
  await writeBackup(placeOf("first"), file, systemClock);
  const ledger = await openLedger({ ...ports, store, racks: () => [] });
  for (let number = 50; number < 60; number++) await ledger.enroll({ nics: [nic(number)], subnet: "1" });
  const [lost] = await store.audit.newest({ before: null, actor: null, action: null, limit: 1 });
  await restoreBackup(placeOf("second"), file, systemClock);
  await store.close();
  store = await createSqliteStore(join(folder, "second"), ports);
  const restored = await openLedger({ ...ports, store, racks: () => [] });
  await restored.enroll({ nics: [nic(99)], subnet: "1" });
  const read = await store.audit.list(lost?.number ?? 0, 10);
  expect(read.map(({ action }) => action)).toEqual(["restore-region", "enroll-machine"]);
  expect(read[0]).toMatchObject({ actor: "berth-coordinator", detail: { backup: expect.any(String) as unknown } });
});

test("a backup taken while machines are enrolled is one moment: no allocation without its machine", async () => {
  await fill(5);
  const ledger = await openLedger({ ...ports, store, racks: () => [] });
  let stopped = false;
  const load = (async () => {
    for (let number = 100; !stopped; number++) await ledger.enroll({ nics: [nic(number)], subnet: "1" });
  })();
  for (let round = 0; round < 5; round++) {
    const file = join(folder, `${round}.backup`);
    await writeBackup(placeOf("first"), file, systemClock);
    await restoreBackup(placeOf(`copy${round}`), file, systemClock);
    expect(await checkRegion(placeOf(`copy${round}`), systemClock)).toMatchObject({ findings: [] });
  }
  stopped = true;
  await load;
});

test("backups and checks at the same time do not disturb each other, also into one file", async () => {
  await fill(200);
  const file = join(folder, "region.backup");
  const place = placeOf("first");
  for (let round = 0; round < 3; round++) {
    const both = await Promise.all([
      ...Array.from({ length: 3 }, () => writeBackup(place, file, systemClock)),
      writeBackup(place, join(folder, "other.backup"), systemClock),
    ]);
    const checks = await Promise.all(Array.from({ length: 3 }, () => checkRegion(place, systemClock)));
    expect(new Set(both).size).toBe(1);
    expect(checks.map(({ findings }) => findings)).toEqual([[], [], []]);
    expect(await examineBackup(file)).toMatchObject({ rows: both[0] });
  }
  expect((await readdir(folder)).sort()).toEqual(["first", "other.backup", "region.backup"]);
});

test("what a killed backup left is removed by the next one, what another one is writing is not", async () => {
  await fill(1);
  const file = join(folder, "region.backup");
  for (const name of ["old", "new"]) await writeFile(`${file}.${name}.part`, "x");
  await utimes(`${file}.old.part`, 1000, 1000);
  await writeBackup(placeOf("first"), file, systemClock);
  expect((await readdir(folder)).sort()).toEqual(["first", "region.backup", "region.backup.new.part"]);
});

/** A backup with a right digest over lines that we did not write. */
function resealed(text: string, change: (lines: readonly string[]) => readonly string[]): string {
  const lines = change(text.trimEnd().split("\n").slice(0, -1));
  const content = `${lines.join("\n")}\n`;
  const trailer = { rows: lines.length - 1, sha256: createHash("sha256").update(content).digest("hex") };
  return `${content}${JSON.stringify(trailer)}\n`;
}

test.each<[string, (lines: readonly string[]) => readonly string[]]>([
  ["rows of a table that is none", (lines) => [...lines, '["nosuch",{"a":1}]']],
  ["steps of the schema", (lines) => [...lines, '["kysely_migration",{"name":"9999-x","timestamp":"x"}]']],
  ["a column that is none", (lines) => [...lines, '["rack",{"a\\"; drop table rack; --":1}]']],
  ["a row twice", (lines) => [...lines, lines.at(-1) ?? ""]],
  ["an allocation without its machine", (lines) => lines.filter((line) => !line.startsWith('["machine"'))],
  ["no ledger", (lines) => lines.filter((line) => !line.startsWith('["ledger"'))],
])("a backup with %s is told to be damaged, and leaves no region behind", async (_, change) => {
  await fill(3);
  const file = join(folder, "region.backup");
  await writeBackup(placeOf("first"), file, systemClock);
  const whole = await readFile(file, "utf8");
  await writeFile(file, resealed(whole, change));
  await expect(restoreBackup(placeOf("second"), file, systemClock)).rejects.toMatchObject({ code: "backup-damaged" });
  await writeFile(file, whole);
  expect(await restoreBackup(placeOf("second"), file, systemClock)).toBeGreaterThan(0);
});

test("a file of one endless line is refused without being read into memory", async () => {
  const file = join(folder, "endless");
  await writeFile(file, "");
  await truncate(file, 3 * 1024 ** 3);
  await expect(examineBackup(file)).rejects.toMatchObject({ code: "backup-damaged", at: `${file}:1` });
});

test.each<[string, (text: string) => string, string]>([
  ["cut short", (text) => text.slice(0, -200), "backup-damaged"],
  ["without its end", (text) => text.slice(0, text.lastIndexOf("\n", text.length - 2) + 1), "backup-damaged"],
  ["with one digit changed", (text) => text.replace("10.0.0.0/16", "10.0.0.0/17"), "backup-damaged"],
  ["with a line too many", (text) => `${text}["machine",{}]\n`, "backup-damaged"],
  ["that is no backup", () => "hello\n", "backup-damaged"],
  ["that is empty", () => "", "backup-damaged"],
  ["of a newer version", (text) => text.replace("0001-first-schema", "9999-from-the-future"), "store-newer"],
])("a backup %s is refused before anything is made", async (_, spoil, code) => {
  await fill(3);
  const file = join(folder, "region.backup");
  await writeBackup(placeOf("first"), file, systemClock);
  await writeFile(file, spoil(await readFile(file, "utf8")));
  await expect(restoreBackup(placeOf("second"), file, systemClock)).rejects.toMatchObject({ name: "EnvironmentError", code });
  expect(await readdir(folder)).not.toContain("second");
});

test("a region that is there is not written over, one in use not touched, and one that is absent named", async () => {
  await fill(3);
  const file = join(folder, "region.backup");
  await writeBackup(placeOf("first"), file, systemClock);
  await expect(restoreBackup(placeOf("first"), file, systemClock)).rejects.toMatchObject({ code: "data-folder-in-use" });
  await store.close();
  await expect(restoreBackup(placeOf("first"), file, systemClock)).rejects.toMatchObject({ code: "store-not-empty" });
  await expect(writeBackup(placeOf("none"), file, systemClock)).rejects.toMatchObject({ code: "store-absent" });
  await expect(restoreBackup(placeOf("second"), join(folder, "nothing"), systemClock)).rejects.toMatchObject({
    code: "backup-unreadable",
  });
  await expect(writeBackup(placeOf("first"), join(folder, "no", "such"), systemClock)).rejects.toMatchObject({
    code: "backup-unwritable",
  });
  store = await createSqliteStore(join(folder, "first"), ports);
});

const UNSOUND = expect.objectContaining({ code: "ledger-unsound" }) as unknown;

test("a check finds what the database itself holds wrong", async () => {
  await fill(3);
  expect(await checkRegion(placeOf("first"), systemClock)).toMatchObject({ allocations: 2, findings: [] });
  await store.close();
  const spoil = (statement: string): void => {
    const sqlite = new SqliteDatabase(join(folder, "first", "berth.sqlite"));
    sqlite.pragma("foreign_keys = OFF");
    sqlite.exec(statement);
    sqlite.close();
  };
  spoil("delete from machine");
  const { findings } = await checkRegion(placeOf("first"), systemClock);
  expect(findings).toContainEqual(expect.objectContaining({ code: "store-damaged" }));
  spoil("update subnet set prefix = 'banana'");
  expect(await checkRegion(placeOf("first"), systemClock)).toMatchObject({
    findings: expect.arrayContaining([UNSOUND]) as unknown,
  });
  spoil("delete from ledger");
  expect(await checkRegion(placeOf("first"), systemClock)).toMatchObject({
    findings: expect.arrayContaining([UNSOUND]) as unknown,
  });
  spoil("insert into ledger (id, revision, next_subnet, head) values (1, 9, 2, '')");
  spoil("update subnet set prefix = '10.0.0.0/16'");
  store = await createSqliteStore(join(folder, "first"), ports);
});
