import { assert, type Problem } from "@berth/core";
import { EnvironmentError } from "@berth/host";
import type { Database, Statement } from "better-sqlite3";
import type { Compilable, CompiledQuery, Insertable, Kysely } from "kysely";
import { problemOf, storeError, UNWRITABLE } from "./store-error.js";
import type { Tables } from "./tables.js";

/** Prepared statements kept; the store's own queries are far fewer. */
const STATEMENTS_MAX = 256;

/**
 * The one connection of a SQLite store. Queries are built with Kysely, so that the same builders serve another engine, and run at once
 * in this thread: a transaction cannot be interleaved with another.
 */
export class SqliteConnection {
  readonly query: Kysely<Tables>;
  private readonly sqlite: Database;
  private readonly statements = new Map<string, Statement<unknown[]>>();
  private readonly inserts = new Map<string, { readonly columns: string; readonly statement: Statement<unknown[]> }>();
  private open = true;
  private unwritable: Problem | null = null;

  constructor(sqlite: Database, query: Kysely<Tables>) {
    this.sqlite = sqlite;
    this.query = query;
  }

  all<Row>(query: Compilable<Row>): Row[] {
    return this.attempt("read", () => {
      const { sql, parameters } = query.compile();
      return this.prepare(sql).all(...parameters) as Row[];
    });
  }

  /** Runs a change; answers how many rows it touched. Only inside {@link SqliteConnection.transaction}. */
  run(query: Compilable): number {
    const { sql, parameters }: CompiledQuery = query.compile();
    return this.prepare(sql).run(...parameters).changes;
  }

  /**
   * The insert that every allocation makes, without building its query each time: the columns of a table's rows always come in the same order, so
   * the first row's text serves the others. Only inside {@link SqliteConnection.transaction}.
   */
  insert<Name extends keyof Tables>(table: Name, row: Insertable<Tables[Name]>): void {
    let insert = this.inserts.get(table);
    if (insert === undefined) {
      const { sql, parameters } = this.query.insertInto(table).values(row).compile();
      assert(parameters.length === Object.keys(row).length, `a column of ${table} is no plain value`);
      insert = { columns: Object.keys(row).join(), statement: this.prepare(sql) };
      this.inserts.set(table, insert);
    }
    assert(insert.columns === Object.keys(row).join(), `a row of ${table} has its columns in another order`);
    insert.statement.run(...Object.values(row));
  }

  /** All of it or nothing, on disk when it returns. Throws what {@link storeError} makes of the engine's error. */
  transaction<T>(body: () => T): T {
    const before = this.changes();
    const result = this.attempt("write", () => this.sqlite.transaction(body).immediate());
    if (this.changes() !== before) this.unwritable = null; // one that changed nothing needed no disk
    return result;
  }

  /** Why the last change could not be written; null when it could. */
  writeProblem(): Problem | null {
    return this.unwritable;
  }

  close(): void {
    if (!this.open) return;
    this.open = false;
    this.statements.clear();
    this.inserts.clear();
    this.sqlite.close();
  }

  private attempt<T>(direction: "read" | "write", body: () => T): T {
    if (!this.open) throw new EnvironmentError("store-closed", this.sqlite.name, "the store is closed");
    try {
      return body();
    } catch (cause) {
      const error = storeError(cause, this.sqlite.name, direction);
      if (error instanceof EnvironmentError && error.code === UNWRITABLE) this.unwritable = problemOf(error);
      throw error;
    }
  }

  /** Rows changed since the database was opened. */
  private changes(): number {
    return this.open ? (this.prepare("select total_changes() as n").get() as { n: number }).n : 0;
  }

  private prepare(sql: string): Statement<unknown[]> {
    let statement = this.statements.get(sql);
    if (statement === undefined) {
      assert(this.statements.size < STATEMENTS_MAX, "the store makes queries without end");
      statement = this.sqlite.prepare<unknown[]>(sql);
      this.statements.set(sql, statement);
    }
    return statement;
  }
}
