import { EnvironmentError, errnoOf, type Clock, type Log } from "@berth/host";
import SqliteDatabase, { type Database } from "better-sqlite3";
import { Kysely, Migrator, SqliteDialect, sql } from "kysely";
import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { migrationNames, migrations } from "./migrations.js";
import { SqliteConnection } from "./sqlite-connection.js";
import { storeError } from "./store-error.js";
import type { Tables } from "./tables.js";

export interface StorePorts {
  readonly clock: Clock;
  readonly log: Log;
}

const DATABASE = "berth.sqlite";
const LOCK = "lock.sqlite";
/** Readers such as a backup never block a writer; whoever else writes gets this long, during which everything here stands still. */
const BUSY_TIMEOUT_MS = 1000;

/**
 * Pages of 4 KiB in the write-ahead log before they are copied into the database. A page that several commits changed is copied once, so a longer log
 * means less to write; it costs 32 MiB of disk and a moment at the next start.
 */
const CHECKPOINT_PAGES = 8192;

/** An opened data folder: the connection, and the lock that says it is ours until the process ends, however it ends. */
export interface OpenFolder {
  readonly connection: SqliteConnection;
  close(): Promise<void>;
}

/**
 * Opens the database of a data folder, making it or bringing it to this version. Throws `data-folder-in-use`, `data-folder-unusable`,
 * `store-newer`, `store-damaged`, `store-unwritable`.
 */
export async function openSqlite(folder: string, ports: StorePorts): Promise<OpenFolder> {
  makeFolder(folder);
  const lock = takeLock(folder);
  const file = join(folder, DATABASE);
  let sqlite: Database | null = null;
  try {
    sqlite = openDatabase(file);
    const query = new Kysely<Tables>({ dialect: new SqliteDialect({ database: sqlite }) });
    await migrate(query, file, ports.log);
    const connection = new SqliteConnection(sqlite, query);
    const close = async (): Promise<void> => {
      connection.close();
      await query.destroy();
      lock.close();
    };
    return { connection, close };
  } catch (cause) {
    sqlite?.close();
    lock.close();
    throw storeError(cause, file, "write");
  }
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (cause) {
    const remedy = "give a folder that can be made, with --data";
    const code = errnoOf(cause) ?? "unknown";
    throw new EnvironmentError("data-folder-unusable", folder, `failed to make the data folder ${folder} (${code})`, {
      cause,
      remedy,
    });
  }
}

/**
 * A second database whose only use is its lock: held exclusively for the life of the process and given back by the kernel when it ends, also
 * by kill -9, while the real database stays open to readers such as a backup.
 */
function takeLock(folder: string): Database {
  const path = join(folder, LOCK);
  let lock: Database | null = null;
  try {
    lock = new SqliteDatabase(path, { timeout: 0 });
    chmodSync(path, 0o600);
    lock.exec("BEGIN EXCLUSIVE");
    return lock;
  } catch (cause) {
    lock?.close();
    if (cause instanceof SqliteDatabase.SqliteError && /^SQLITE_(BUSY|LOCKED)/.test(cause.code)) {
      const remedy = "stop the other coordinator, or give this one another folder with --data";
      throw new EnvironmentError("data-folder-in-use", folder, `another coordinator uses the data folder ${folder}`, {
        cause,
        remedy,
      });
    }
    const remedy = "check owner and mode of the data folder";
    throw new EnvironmentError("data-folder-unusable", folder, `failed to write in the data folder ${folder}`, { cause, remedy });
  }
}

function openDatabase(file: string): Database {
  const sqlite = new SqliteDatabase(file, { timeout: BUSY_TIMEOUT_MS });
  try {
    chmodSync(file, 0o600);
    sqlite.pragma("journal_mode = WAL");
    sqlite.pragma("synchronous = FULL");
    sqlite.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
    sqlite.pragma("foreign_keys = ON");
    return sqlite;
  } catch (cause) {
    sqlite.close();
    throw cause;
  }
}

async function migrate(query: Kysely<Tables>, file: string, log: Log): Promise<void> {
  const done = await migrationsDone(query);
  const unknown = done.filter((name) => !migrationNames.includes(name));
  if (unknown.length > 0) {
    const remedy = "run the newer version, or restore a backup that this version made";
    const message = `${file} was written by a newer version of Berth (it knows ${unknown.join(", ")})`;
    throw new EnvironmentError("store-newer", file, message, { remedy });
  }
  const { error, results } = await new Migrator({ db: query, provider: migrations }).migrateToLatest();
  if (error !== undefined) throw migrationError(error, file);
  for (const { migrationName, status } of results ?? []) log.info({ migration: migrationName, status }, "database migrated");
}

async function migrationsDone(query: Kysely<Tables>): Promise<readonly string[]> {
  const table = await sql`select 1 from sqlite_master where type = 'table' and name = 'kysely_migration'`.execute(query);
  if (table.rows.length === 0) return [];
  const done = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(query);
  return done.rows.map(({ name }) => name);
}

function migrationError(cause: unknown, file: string): unknown {
  const named = storeError(cause, file, "write");
  return named !== cause
    ? named
    : new EnvironmentError("store-unwritable", file, `failed to bring ${file} to this version`, { cause });
}
