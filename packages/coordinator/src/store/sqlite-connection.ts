import { assert, type Problem } from "@berth/core";
import { EnvironmentError } from "@berth/host";
import type { Database, Statement } from "better-sqlite3";
import type { Compilable, CompiledQuery, Insertable, Kysely } from "kysely";
import { problemOf, storeError, UNWRITABLE } from "./store-error.js";
import type { Tables } from "./tables.js";

/** Prepared statements kept; the store's own queries are far fewer. */
const STATEMENTS_MAX = 256;
/** Rows of one insert, where there are as many: one statement of eight takes a quarter less than eight of one, and more gain nothing (measured). */
const ROWS_AT_ONCE = 8;

/**
 * The one connection of a SQLite store. Queries are built with Kysely, so that the same builders serve another engine, and run at once
 * in this thread: a transaction cannot be interleaved with another.
 */
export class SqliteConnection {
  readonly query: Kysely<Tables>;
  private readonly sqlite: Database;
  private readonly statements = new Map<string, Statement<unknown[]>>();
  private readonly inserts = new Map<string, { readonly columns: readonly string[]; readonly statement: Statement<unknown[]> }>();
  private open = true;
  private unwritable: Problem | null = null;
  /** Rows that transactions changed, kept or not. */
  private touched = 0;

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

  /** The same row by row, so that there is never more than one of them. Nothing may be changed meanwhile. */
  each(query: Compilable, take: (row: never) => void): void {
    this.attempt("read", () => {
      const { sql, parameters } = query.compile();
      for (const row of this.prepare(sql).iterate(...parameters)) take(row as never);
    });
  }

  /** Runs a change; answers how many rows it touched. Only inside {@link SqliteConnection.transaction}. */
  run(query: Compilable): number {
    const { sql, parameters }: CompiledQuery = query.compile();
    const { changes } = this.prepare(sql).run(...parameters);
    this.touched += changes;
    return changes;
  }

  /** A change that is always the same and answers one row, built and prepared once for all commits. Only inside {@link SqliteConnection.transaction}. */
  constant<Row>(query: Compilable<Row>): () => Row {
    const { sql, parameters } = query.compile();
    return () => {
      const row = this.prepare(sql).get(...parameters) as Row | undefined;
      assert(row !== undefined, `no row is left for: ${sql}`);
      this.touched += 1;
      return row;
    };
  }

  /**
   * The inserts that every allocation makes, without building their query each time: the columns of a table's rows always come in the same order, so
   * the first rows' text serves the others. Only inside {@link SqliteConnection.transaction}.
   */
  insert<Name extends keyof Tables>(table: Name, rows: readonly Insertable<Tables[Name]>[]): void {
    for (let from = 0; from < rows.length; ) {
      const count = rows.length - from < ROWS_AT_ONCE ? 1 : ROWS_AT_ONCE;
      this.insertAtOnce(table, rows.slice(from, from + count));
      from += count;
    }
  }

  private insertAtOnce<Name extends keyof Tables>(table: Name, rows: readonly Insertable<Tables[Name]>[]): void {
    const name = `${rows.length} ${table}`;
    let insert = this.inserts.get(name);
    if (insert === undefined) {
      const { sql, parameters } = this.query.insertInto(table).values(rows).compile();
      const columns = Object.keys(rows[0] ?? {});
      assert(parameters.length === columns.length * rows.length, `a column of ${table} is no plain value`);
      insert = { columns, statement: this.prepare(sql) };
      this.inserts.set(name, insert);
    }
    const { columns, statement } = insert;
    const values: unknown[] = [];
    for (const row of rows) {
      const own = Object.keys(row);
      const alike = own.length === columns.length && own.every((column, place) => column === columns[place]);
      assert(alike, `a row of ${table} has its columns in another order`);
      for (const value of Object.values(row)) values.push(value);
    }
    statement.run(values);
    this.touched += rows.length;
  }

  /** All of it or nothing, on disk when it returns. Throws what {@link storeError} makes of the engine's error. */
  transaction<T>(body: () => T): T {
    const before = this.touched;
    const result = this.attempt("write", () => this.inTransaction(body));
    if (this.touched !== before) this.unwritable = null; // one that changed nothing needed no disk
    return result;
  }

  /** By prepared statements: the driver's own wrapper is made anew for every body. */
  private inTransaction<T>(body: () => T): T {
    assert(!this.sqlite.inTransaction, "a transaction inside another");
    this.prepare("begin immediate").run();
    try {
      const result = body();
      this.prepare("commit").run();
      return result;
    } finally {
      // Some errors end the transaction themselves.
      if (this.sqlite.inTransaction) this.prepare("rollback").run();
    }
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
