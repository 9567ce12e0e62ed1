import { assert } from "@berth/core";
import { EnvironmentError, type Clock } from "@berth/host";
import { Migrator, type Kysely, type MigrationResultSet, type Transaction } from "kysely";
import { randomUUID } from "node:crypto";
import { migrationsDone, refuseNewer } from "../store/migrate.js";
import { migrationNames, migrations } from "../store/migrations.js";
import type { Tables } from "../store/tables.js";
import { backupTables, type BackupHeader, type Row } from "./backup-format.js";
import { readBackup } from "./read-backup.js";
import { openRegion, type RegionDatabase, type RegionPlace } from "./region-database.js";

const GATHER_MAX = 50;
/** More changes than a region makes between a backup and its loss. */
const NUMBERS_LOST_MAX = 1_000_000;
/** The store's word for a constraint that does not hold; nobody else writes here. */
const CONFLICT = "store-conflict";

/**
 * Puts a backup, of this or an older version and of whichever engine, into an empty region, all of it or nothing. Answers the number of rows.
 * Throws `store-not-empty`, `store-newer`, `backup-damaged`, `backup-unreadable`, `data-folder-in-use`.
 */
export async function restoreBackup(place: RegionPlace, path: string, clock: Clock): Promise<number> {
  const header = await examineBackup(path); // whole, before anything is made
  const region = openRegion(place, clock);
  try {
    await refuseNewer(region.query, region.shown);
    await refuseFull(region);
    return await fill({ region, header, path, clock });
  } catch (cause) {
    const named = region.named(cause);
    throw named instanceof EnvironmentError && named.code === CONFLICT ? foreign(path, "its rows contradict each other") : named;
  } finally {
    await region.close();
  }
}

/** Reads a backup to its end; answers what it says of itself. Throws `backup-damaged`, `backup-unreadable`, `store-newer`. */
export async function examineBackup(path: string): Promise<BackupHeader & { readonly rows: number }> {
  let found: BackupHeader | null = null;
  const header = async (read: BackupHeader): Promise<void> => {
    await refuseNewerBackup(read);
    found = read;
  };
  const rows = await readBackup(path, { header, row: () => Promise.resolve() });
  assert(found !== null, "a backup that was read has a header");
  return { ...(found as BackupHeader), rows };
}

interface Filling {
  readonly region: RegionDatabase;
  readonly header: BackupHeader;
  readonly path: string;
  readonly clock: Clock;
}

async function fill({ region, header, path, clock }: Filling): Promise<number> {
  // The rows are of the schema that the backup was made with; what came later is done to them as to any older database.
  await bringTo(region, header);
  const columns = await region.columns();
  const hasHead = columns.get("ledger")?.has("head") === true;
  const rows = await region.query.transaction().execute(async (transaction) => {
    // Waits for a commit that is being made, so neither a coordinator nor another restore comes between the look and the filling.
    const { numDeletedRows } = await transaction.deleteFrom("ledger").where("revision", "=", 0).executeTakeFirstOrThrow();
    if (numDeletedRows === 0n) refuse(region.shown);
    const filling = new TableFilling(transaction, columns, path);
    const count = await readBackup(path, { header: () => Promise.resolve(), row: (table, row) => filling.add(table, row) });
    await filling.flush();
    if (!filling.filled.has("ledger")) throw foreign(path, "it has no ledger");
    await recordRestore(transaction, header, clock.now());
    await region.continueNumbers(transaction);
    if (hasHead) await renewHead(transaction);
    return count;
  });
  throwMigration(region, await new Migrator({ db: region.query, provider: migrations }).migrateToLatest());
  if (!hasHead) await renewHead(region.query);
  return rows;
}

/**
 * The entry of the audit log that says so. It leaves the numbers out that the lost history may have used: a reader of events who has those goes on
 * here, and is told that what came after the backup is gone.
 */
async function recordRestore(transaction: Transaction<Tables>, { at, version }: BackupHeader, now: number): Promise<void> {
  const { last } = await transaction
    .selectFrom("audit")
    .select(({ fn }) => fn.max("number").as("last"))
    .executeTakeFirstOrThrow();
  const backup = new Date(at).toISOString();
  const detail = JSON.stringify({ backup, version });
  const entry = { number: Number(last ?? 0) + NUMBERS_LOST_MAX, at: now, actor: "berth-coordinator", action: "restore-region" };
  await transaction
    .insertInto("audit")
    .values({ ...entry, subject: `backup of ${backup}`, detail })
    .execute();
}

/** No coordinator that knew another history takes this one for a continuation of it. */
async function renewHead(query: Kysely<Tables>): Promise<void> {
  await query.updateTable("ledger").set({ head: randomUUID() }).execute();
}

function foreign(path: string, why: string): EnvironmentError {
  const remedy = "restore a backup as 'berth-coordinator backup' wrote it; nothing of this one was kept";
  return new EnvironmentError("backup-damaged", path, `the backup is damaged: ${why}`, { remedy });
}

/** Rows of one table at a time, some in each statement. */
class TableFilling {
  readonly filled = new Set<string>();
  readonly #transaction: Transaction<Tables>;
  readonly #columns: ReadonlyMap<string, ReadonlySet<string>>;
  readonly #path: string;
  #table = "";
  #rows: Row[] = [];

  constructor(transaction: Transaction<Tables>, columns: ReadonlyMap<string, ReadonlySet<string>>, path: string) {
    this.#transaction = transaction;
    this.#columns = columns;
    this.#path = path;
  }

  async add(table: string, row: Row): Promise<void> {
    this.#check(table, row);
    if (table !== this.#table || this.#rows.length >= GATHER_MAX) await this.flush();
    this.#table = table;
    this.#rows.push(row);
  }

  async flush(): Promise<void> {
    if (this.#rows.length === 0) return;
    const rows = this.#rows;
    this.#rows = [];
    // Which tables and columns there are depends on the version that made the backup, so the types of this one do not hold.
    const query = this.#transaction as unknown as Kysely<Record<string, Row>>;
    await query.insertInto(this.#table).values(rows).execute();
  }

  /** A backup whose digest is right may still not have been written by us. */
  #check(table: string, row: Row): void {
    const known = backupTables([table]).length === 1 ? this.#columns.get(table) : undefined;
    if (known === undefined) throw foreign(this.#path, `it has rows of ${JSON.stringify(table)}, which is no table of a region`);
    const strange = Object.keys(row).find((column) => !known.has(column));
    if (strange !== undefined)
      throw foreign(this.#path, `it has a column ${JSON.stringify(strange)} of ${table}, which its version did not have`);
    this.filled.add(table);
  }
}

function refuseNewerBackup({ migrations: steps, version }: BackupHeader): Promise<void> {
  const unknown = steps.filter((step) => !migrationNames.includes(step));
  if (unknown.length === 0) return Promise.resolve();
  const message = `the backup was made by a newer version of Berth, ${version} (it knows ${unknown.join(", ")})`;
  throw new EnvironmentError("store-newer", "backup", message, { remedy: "restore it with that version" });
}

async function bringTo(region: RegionDatabase, { migrations: steps }: BackupHeader): Promise<void> {
  const done = await migrationsDone(region.query);
  const last = steps.at(-1);
  if (last === undefined || done.length > steps.length) return refuse(region.shown);
  throwMigration(region, await new Migrator({ db: region.query, provider: migrations }).migrateTo(last));
}

function throwMigration(region: RegionDatabase, { error }: MigrationResultSet): void {
  if (error === undefined) return;
  const cause = region.named(error);
  const { shown } = region;
  throw cause instanceof EnvironmentError
    ? cause
    : new EnvironmentError("store-unwritable", shown, `failed to bring ${shown} to a version`, { cause });
}

/** What any region has from its first minute on. */
async function refuseFull({ query, shown }: RegionDatabase): Promise<void> {
  if ((await migrationsDone(query)).length === 0) return;
  const used = await Promise.all([
    query.selectFrom("ledger").select("id").where("revision", ">", 0).executeTakeFirst(),
    query.selectFrom("rack").select("id").limit(1).executeTakeFirst(),
    query.selectFrom("join_token").select("id").limit(1).executeTakeFirst(),
    query.selectFrom("audit").select("number").limit(1).executeTakeFirst(),
  ]);
  if (used.some((row) => row !== undefined)) refuse(shown);
}

function refuse(shown: string): never {
  const remedy = "restore into a new data folder or an empty database, and let the coordinators use that";
  throw new EnvironmentError("store-not-empty", shown, `there is a region in ${shown} already`, { remedy });
}
