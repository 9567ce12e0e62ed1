import { EnvironmentError, errnoOf, type Clock, type Log } from "@berth/host";
import SqliteDatabase, { type Database } from "better-sqlite3";
import { Kysely } from "kysely";
import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { migrate } from "./migrate.js";
import { SqliteConnection } from "./sqlite-connection.js";
import { sqliteDialect } from "./sqlite-dialect.js";
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
  const { sqlite, file, close: closeFolder } = openFolder(folder);
  const query = new Kysely<Tables>({ dialect: sqliteDialect(sqlite) });
  try {
    await migrate(query, { shown: file, log: ports.log, named: (cause) => storeError(cause, file, "write") });
    const connection = new SqliteConnection(sqlite, query);
    const close = async (): Promise<void> => {
      connection.close();
      await query.destroy();
      closeFolder();
    };
    return { connection, close };
  } catch (cause) {
    closeFolder();
    throw storeError(cause, file, "write");
  }
}

/** The database of a data folder as it is, made if there is none; nobody else has the folder until it is closed. Throws as {@link openSqlite}. */
export function openFolder(folder: string): { readonly sqlite: Database; readonly file: string; readonly close: () => void } {
  makeFolder(folder);
  const lock = takeLock(folder);
  const file = sqliteFile(folder);
  try {
    const sqlite = openDatabase(file);
    const close = (): void => {
      sqlite.close();
      lock.close();
    };
    return { sqlite, file, close };
  } catch (cause) {
    lock.close();
    throw storeError(cause, file, "write");
  }
}

export function sqliteFile(folder: string): string {
  return join(folder, DATABASE);
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
