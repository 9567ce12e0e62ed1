import type { Problem } from "@berth/core";
import { EnvironmentError, type Clock } from "@berth/host";
import { Kysely, type Transaction } from "kysely";
import type { Tables } from "../tables.js";
import { ConnectionPool } from "./connection-pool.js";
import { parseDatabaseUrl, type DatabaseTarget } from "./database-url.js";
import { BerthPostgresDialect } from "./dialect.js";
import { problemOf, UNWRITABLE } from "../store-error.js";
import { isConnectionLost, postgresError, UNREACHABLE } from "./postgres-error.js";

/** Tries of one call: the second one finds the server that took over, the third the one after a restart. */
const TRIES = 3;

/** Whether a change that may have come through before its connection broke can be made once more. */
export type Repetition = "repeatable" | "once";

/** The database of one store: Kysely over the pool, with a second try when a connection breaks, and named errors. */
export class PostgresDatabase {
  readonly target: DatabaseTarget;
  readonly query: Kysely<Tables>;
  #open = true;
  #unwritable: Problem | null = null;

  constructor(url: string, clock: Clock) {
    this.target = parseDatabaseUrl(url);
    this.query = new Kysely<Tables>({ dialect: new BerthPostgresDialect(new ConnectionPool(this.target, clock)) });
  }

  /** Why the last change could not be written; null when it could. */
  writeProblem(): Problem | null {
    return this.#unwritable;
  }

  read<T>(body: (query: Kysely<Tables>) => Promise<T>): Promise<T> {
    return this.attempt("read", () => body(this.query));
  }

  /** All reads of the body see the same moment. */
  snapshot<T>(body: (query: Transaction<Tables>) => Promise<T>): Promise<T> {
    const view = () => this.query.transaction().setIsolationLevel("repeatable read").execute(body);
    return this.attempt("read", view);
  }

  /** One transaction. Once the body is done the connection may break over the commit: then only what is repeatable is made again. */
  write<T>(body: (query: Transaction<Tables>) => Promise<T>, repetition: Repetition = "repeatable"): Promise<T> {
    let decided = false;
    const mayRepeat = (): boolean => repetition === "repeatable" || !decided;
    return this.attempt(
      "write",
      () => {
        decided = false;
        return this.query.transaction().execute(async (transaction) => {
          const result = await body(transaction);
          decided = true;
          return result;
        });
      },
      mayRepeat,
    );
  }

  async attempt<T>(direction: "read" | "write", body: () => Promise<T>, mayRepeat: () => boolean = () => true): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      if (!this.#open) throw new EnvironmentError("store-closed", this.target.shown, "the store is closed");
      try {
        const result = await body();
        if (direction === "write") this.#unwritable = null;
        return result;
      } catch (error) {
        const again = this.#open && attempt < TRIES && isConnectionLost(error) && mayRepeat();
        if (!again && this.#open) throw this.#named(error, direction);
      }
    }
  }

  #named(error: unknown, direction: "read" | "write"): unknown {
    const named = postgresError(error, this.target.shown, direction);
    const broken = named instanceof EnvironmentError && (named.code === UNWRITABLE || named.code === UNREACHABLE);
    if (direction === "write" && broken) this.#unwritable = problemOf(named);
    return named;
  }

  async close(): Promise<void> {
    this.#open = false;
    await this.query.destroy();
  }
}
