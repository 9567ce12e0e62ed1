import type { Clock } from "@berth/host";
import type { PostgresJSDialectConfig } from "kysely-postgres-js";
import postgres, { type Sql } from "postgres";
import type { DatabaseHost, DatabaseTarget } from "./database-url.js";
import { isConnectionLost } from "./postgres-error.js";

const CONNECT_SECONDS = 3;
/** A server that is mute for so long is as good as gone. Longer than any lock is waited for. */
const STATEMENT_MS = 20_000;
const LOCK_MS = 5000;
const KEEP_ALIVE_SECONDS = 10;
const INT8 = 20;
const PARAMETERS_MAX = 65_000;
/** How often it is looked for one: a timer for each query would cost more than to send it. */
const LOOK_MS = 1000;

type Rows = Awaited<ReturnType<ReservedSql["unsafe"]>>;
type DialectSql = Extract<PostgresJSDialectConfig["postgres"], { reserve: unknown }>;
/** What the dialect wants of a connection. */
export type ReservedSql = Awaited<ReturnType<DialectSql["reserve"]>>;

/**
 * One connection to one server. The driver, told to go on over a connection that broke inside a transaction, either writes to a socket that
 * is gone and takes the process with it, or runs the rest outside of any transaction on a new one. So this one is used once: after it broke it
 * answers nothing but errors, and a rollback, which the server has made already.
 */
export class PostgresConnection {
  readonly sql: Sql;
  readonly #clock: Clock;
  readonly #ended = new AbortController();
  /** When each query was sent that is not answered, oldest first; monotonic milliseconds. */
  readonly #unanswered = new Set<{ readonly since: number }>();
  #looking = false;
  #lost = false;
  #onLost: () => void = () => undefined;

  constructor(target: DatabaseTarget, { host, port }: DatabaseHost, clock: Clock) {
    this.#clock = clock;
    const place = host.startsWith("/") ? { path: `${host}/.s.PGSQL.${port}` } : { host, port };
    this.sql = postgres({
      ...place,
      database: target.database,
      ...(target.user === null ? {} : { user: target.user }),
      ...(target.password === null ? {} : { password: target.password }),
      ssl: target.tls,
      max: 1,
      connect_timeout: CONNECT_SECONDS,
      keep_alive: KEEP_ALIVE_SECONDS,
      idle_timeout: 0,
      max_lifetime: null,
      fetch_types: false,
      onnotice: () => undefined,
      onclose: () => this.#lose(),
      // Durable before the answer, whatever the server's default is; a lock of somebody else is an error with a name, not a silence.
      // All queries look up by key and the commit's plan depends on no value, so the server plans each text once; left to itself it plans the commit each time.
      connection: {
        application_name: "berth-coordinator",
        synchronous_commit: "on",
        lock_timeout: LOCK_MS,
        plan_cache_mode: "force_generic_plan",
      },
      types: { int8: { to: INT8, from: [INT8], parse: Number, serialize: String } },
    });
  }

  get lost(): boolean {
    return this.#lost;
  }

  /** Called once, when it breaks or is closed. */
  onLost(listener: () => void): void {
    this.#onLost = listener;
  }

  /** Rejects with the driver's error; after the connection is lost always with `CONNECTION_CLOSED`. */
  async run(text: string, parameters: readonly unknown[] = []): Promise<Rows> {
    if (this.#lost) {
      if (text === "rollback") return rolledBack();
      throw Object.assign(new Error("the connection to the database broke"), { code: "CONNECTION_CLOSED" });
    }
    if (parameters.length > PARAMETERS_MAX) throw new Error(`a query with ${parameters.length} parameters`);
    const sent = { since: this.#clock.monotonic() };
    this.#unanswered.add(sent);
    if (!this.#looking) this.#lookForMute().catch(() => undefined); // it has ended
    try {
      return await this.sql.unsafe(text, [...parameters] as never[], { prepare: parameters.length > 0 });
    } catch (error) {
      if (isConnectionLost(error) || text === "rollback") this.drop();
      // A connection that could not roll back is ended, and the server does it: what failed before is what the caller must hear of.
      if (text === "rollback") return rolledBack();
      throw error;
    } finally {
      this.#unanswered.delete(sent);
    }
  }

  /** Drops it when the server leaves a query unanswered for too long; for as long as there is one. */
  async #lookForMute(): Promise<void> {
    this.#looking = true;
    while (this.#unanswered.size > 0) {
      await this.#clock.sleep(LOOK_MS, this.#ended.signal);
      const [oldest] = this.#unanswered;
      if (oldest !== undefined && this.#clock.monotonic() - oldest.since >= STATEMENT_MS) this.drop();
    }
    this.#looking = false;
  }

  /** Ends it at once; what is asked over it is rejected. */
  async close(): Promise<void> {
    this.#lose();
    await this.sql.end({ timeout: 0 });
  }

  /** {@link PostgresConnection.close} for whoever does not wait for it. */
  drop(): void {
    this.close().catch(() => undefined); // it is gone either way
  }

  #lose(): void {
    if (this.#lost) return;
    this.#lost = true;
    this.#ended.abort();
    this.#onLost();
  }
}

function rolledBack(): Rows {
  return Object.assign([], { command: "ROLLBACK", count: 0 });
}
