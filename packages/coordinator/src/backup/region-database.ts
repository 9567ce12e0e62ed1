import { EnvironmentError, type Clock } from "@berth/host";
import SqliteDatabase, { type Database } from "better-sqlite3";
import { CompiledQuery, Kysely, sql } from "kysely";
import { existsSync } from "node:fs";
import { openFolder, sqliteFile } from "../store/open-sqlite.js";
import { PostgresDatabase } from "../store/postgres/postgres-database.js";
import { postgresError } from "../store/postgres/postgres-error.js";
import { sqliteDialect } from "../store/sqlite-dialect.js";
import { storeError } from "../store/store-error.js";
import type { Tables } from "../store/tables.js";
import type { Row } from "./backup-format.js";

const FETCH = 1000;

/** A region's database as backup, restore and check see it, whatever its engine. */
export interface RegionDatabase {
  readonly query: Kysely<Tables>;
  /** For people. */
  readonly shown: string;
  /** Those of the region; a database may have others' in other schemas. */
  tables(): Promise<readonly string[]>;
  /** All rows of a table. Between tables nothing changes while `read` runs. */
  rows(table: string): AsyncIterable<Row>;
  /** The columns of each table of the region. */
  columns(): Promise<ReadonlyMap<string, ReadonlySet<string>>>;
  /** Numbers that the database gives go on after those that rows brought. */
  continueNumbers(query: Kysely<Tables>): Promise<void>;
  /** What the engine itself finds damaged, one sentence each. */
  damage(): Promise<readonly string[]>;
  named(cause: unknown): unknown;
  close(): Promise<void>;
}

/** Where a region is: as `data` and `database` of the coordinator's configuration. */
export interface RegionPlace {
  readonly data: string;
  readonly database: string | null;
}

/**
 * The region as it is at one moment, while coordinators go on writing: of an SQLite database one read transaction, of PostgreSQL one
 * snapshot. Throws `store-absent`, `store-unreachable`.
 */
export async function readRegion<T>(place: RegionPlace, clock: Clock, body: (region: RegionDatabase) => Promise<T>): Promise<T> {
  return place.database === null ? readSqlite(place.data, body) : readPostgres(place.database, clock, body);
}

/** The region to be written, by nobody else meanwhile. Throws `data-folder-in-use`, `store-unreachable`. */
export function openRegion(place: RegionPlace, clock: Clock): RegionDatabase {
  if (place.database !== null) return openPostgres(place.database, clock);
  const { sqlite, file, close } = openFolder(place.data);
  const region = sqliteRegion(sqlite, file);
  return {
    ...region,
    close: async () => {
      await region.close();
      close();
    },
  };
}

async function readSqlite<T>(folder: string, body: (region: RegionDatabase) => Promise<T>): Promise<T> {
  const file = sqliteFile(folder);
  if (!existsSync(file)) {
    const remedy = "name the folder with --data, or the database with --database";
    throw new EnvironmentError("store-absent", file, `there is no region in ${folder}`, { remedy });
  }
  try {
    const region = sqliteRegion(momentOf(file), file);
    return await body(region).finally(() => region.close());
  } catch (cause) {
    throw storeError(cause, file, "read");
  }
}

/**
 * A read transaction: it keeps to one moment, holds no writer up and leaves nothing behind, however many read at once. Until it ends the
 * write-ahead log only grows.
 */
function momentOf(file: string): Database {
  const sqlite = new SqliteDatabase(file, { readonly: true });
  try {
    sqlite.exec("BEGIN; SELECT count(*) FROM sqlite_master");
    return sqlite;
  } catch (cause) {
    sqlite.close();
    throw cause;
  }
}

function sqliteRegion(sqlite: Database, shown: string): RegionDatabase {
  const query = new Kysely<Tables>({ dialect: sqliteDialect(sqlite) });
  return {
    query,
    shown,
    tables: async () => (await query.introspection.getTables()).map(({ name }) => name),
    columns: async () =>
      new Map((await query.introspection.getTables()).map(({ columns, name }) => [name, new Set(columns.map((it) => it.name))])),
    rows: (table) => batched(sqlite.prepare<[], Row>(`select * from "${table}"`).iterate()),
    continueNumbers: () => Promise.resolve(), // SQLite goes on after the largest by itself
    damage: () => Promise.resolve(sqliteDamage(sqlite)),
    named: (cause) => storeError(cause, shown, "write"),
    close: () => query.destroy(),
  };
}

async function* batched(rows: Iterable<Row>): AsyncIterable<Row> {
  await Promise.resolve();
  yield* rows;
}

function sqliteDamage(sqlite: Database): readonly string[] {
  const integrity = sqlite.pragma("integrity_check") as { integrity_check: string }[];
  const foreign = sqlite.pragma("foreign_key_check") as { table: string; parent: string }[];
  return [
    ...integrity.map((row) => row.integrity_check).filter((said) => said !== "ok"),
    ...foreign.map(({ table, parent }) => `a row of ${table} refers to none of ${parent}`),
  ];
}

async function readPostgres<T>(url: string, clock: Clock, body: (region: RegionDatabase) => Promise<T>): Promise<T> {
  const database = new PostgresDatabase(url, clock);
  try {
    return await database.snapshot((query) => body({ ...postgresRegion(database, query), close: () => Promise.resolve() }));
  } finally {
    await database.close();
  }
}

function openPostgres(url: string, clock: Clock): RegionDatabase {
  const database = new PostgresDatabase(url, clock);
  return postgresRegion(database, database.query);
}

function postgresRegion(database: PostgresDatabase, query: Kysely<Tables>): RegionDatabase {
  const { shown } = database.target;
  return {
    query,
    shown,
    tables: () => postgresTables(query),
    rows: (table) => postgresRows(query, table),
    columns: () => postgresColumns(query),
    continueNumbers: continueIdentities,
    damage: () => Promise.resolve([]), // the server's checksums and pg_amcheck do that
    named: (cause) => postgresError(cause, shown, "write"),
    close: () => database.close(),
  };
}

async function postgresTables(query: Kysely<Tables>): Promise<readonly string[]> {
  const tables = sql<{ table_name: string }>`
    select table_name from information_schema.tables where table_schema = current_schema() and table_type = 'BASE TABLE'`;
  return (await tables.execute(query)).rows.map((row) => row.table_name);
}

async function postgresColumns(query: Kysely<Tables>): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const columns = sql<{ table_name: string; column_name: string }>`
    select table_name, column_name from information_schema.columns where table_schema = current_schema()`;
  const found = new Map<string, Set<string>>();
  for (const { table_name: table, column_name: column } of (await columns.execute(query)).rows)
    found.set(table, (found.get(table) ?? new Set()).add(column));
  return found;
}

async function* postgresRows(query: Kysely<Tables>, table: string): AsyncIterable<Row> {
  await query.executeQuery(CompiledQuery.raw(`declare berth_backup cursor for select * from "${table}"`));
  for (;;) {
    const { rows } = await query.executeQuery<Row>(CompiledQuery.raw(`fetch ${FETCH} from berth_backup`));
    yield* rows;
    if (rows.length < FETCH) break;
  }
  await query.executeQuery(CompiledQuery.raw("close berth_backup"));
}

async function continueIdentities(query: Kysely<Tables>): Promise<void> {
  const identities = sql<{ table_name: string; column_name: string }>`
    select table_name, column_name from information_schema.columns where table_schema = current_schema() and is_identity = 'YES'`;
  for (const { table_name: table, column_name: column } of (await identities.execute(query)).rows) {
    const largest = sql`select max(${sql.ref(column)}) from ${sql.table(table)}`;
    await sql`select setval(pg_get_serial_sequence(${`"${table}"`}, ${column}), greatest((${largest}), 1), (${largest}) is not null)`.execute(
      query,
    );
  }
}
