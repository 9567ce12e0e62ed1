import type { Database } from "better-sqlite3";
import { SqliteAdapter, SqliteDialect } from "kysely";

/** In SQLite a change of the schema is part of its transaction; Kysely does not count on that. */
class SchemaInTransactions extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

/** With it all steps of a migration are one transaction: a process killed among them has changed nothing. */
class BerthSqliteDialect extends SqliteDialect {
  override createAdapter(): SqliteAdapter {
    return new SchemaInTransactions();
  }
}

export function sqliteDialect(database: Database): SqliteDialect {
  return new BerthSqliteDialect({ database });
}
