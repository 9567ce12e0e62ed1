import { EnvironmentError, type Log } from "@berth/host";
import { Migrator, sql, type Kysely } from "kysely";
import { migrationNames, migrations } from "./migrations.js";
import type { Tables } from "./tables.js";

const MIGRATION_TABLE = "kysely_migration";

export interface MigrateOptions {
  /** The database for people. */
  readonly shown: string;
  readonly log: Log;
  /** An error of the engine, named; anything else as it is. */
  readonly named: (cause: unknown) => unknown;
}

/** Brings a database to this version, whatever older one it has. Throws `store-newer`, and leaves it alone, where it has a newer one. */
export async function migrate(query: Kysely<Tables>, { shown, log, named }: MigrateOptions): Promise<void> {
  await refuseNewer(query, shown);
  const { error, results } = await new Migrator({ db: query, provider: migrations }).migrateToLatest();
  if (error !== undefined) {
    const known = named(error);
    if (known !== error) throw known;
    throw new EnvironmentError("store-unwritable", shown, `failed to bring ${shown} to this version`, { cause: error });
  }
  for (const { migrationName, status } of results ?? []) log.info({ migration: migrationName, status }, "database migrated");
}

/** Throws `store-newer` when a step is in the database that this version does not know. */
export async function refuseNewer(query: Kysely<Tables>, shown: string): Promise<void> {
  const unknown = (await migrationsDone(query)).filter((name) => !migrationNames.includes(name));
  if (unknown.length === 0) return;
  const remedy = "run the newer version, or restore a backup that this version made";
  const message = `${shown} was written by a newer version of Berth (it knows ${unknown.join(", ")})`;
  throw new EnvironmentError("store-newer", shown, message, { remedy });
}

/** The steps that a database has been through, oldest first. */
export async function migrationsDone(query: Kysely<Tables>): Promise<readonly string[]> {
  const tables = await query.introspection.getTables({ withInternalKyselyTables: true });
  if (!tables.some(({ name }) => name === MIGRATION_TABLE)) return [];
  const done = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(query);
  return done.rows.map(({ name }) => name);
}
