import { EnvironmentError, type Clock } from "@berth/host";
import { parseDatabaseUrl, type DatabaseTarget } from "./database-url.js";
import { findWritable } from "./find-writable.js";
import type { PostgresConnection } from "./postgres-connection.js";
import { isConnectionLost } from "./postgres-error.js";

const LOOK_MS = 1000;
/** When the database was away, whoever had the racks comes first: others look so often before they take them. */
const LOOKS_WAITED = 4;
/** Any number that nobody else locks; the schema beside it, because a database may have several regions. */
const LOCK = "select pg_try_advisory_lock(1113944180, hashtext(current_schema())) as taken";

/**
 * Which of the coordinators of one database has the racks: the one that holds this lock. The database gives it up when the connection behind it
 * ends, so nobody has to be told that a coordinator died.
 */
export class RackHold {
  readonly #target: DatabaseTarget;
  readonly #clock: Clock;
  #connection: PostgresConnection | null = null;
  #held = false;
  #looksToWait = 0;

  constructor(url: string, clock: Clock) {
    this.#target = parseDatabaseUrl(url);
    this.#clock = clock;
  }

  get held(): boolean {
    return this.#held;
  }

  /** Takes the racks if nobody has them. While the database does not answer nobody can take them, and all stays as it is. */
  async look(signal: AbortSignal): Promise<void> {
    try {
      let connection = this.#connection;
      if (connection === null || connection.lost) {
        if (connection !== null && !this.#held) this.#looksToWait = LOOKS_WAITED;
        connection = this.#connection = await findWritable(this.#target, this.#clock, signal);
        if (this.#held) this.#held = await take(connection);
      } else if (this.#held) await connection.run("select 1");
      if (!this.#held && --this.#looksToWait < 0) this.#held = await take(connection);
    } catch (error) {
      if (!(error instanceof EnvironmentError) && !isConnectionLost(error)) throw error;
    }
  }

  /** Resolves when it was given or taken away, or aborted. */
  async changed(signal: AbortSignal): Promise<void> {
    for (const before = this.#held; this.#held === before && !signal.aborted; ) {
      await this.#clock.sleep(LOOK_MS, signal).catch(() => undefined); // aborted: the loop ends with it
      if (!signal.aborted) await this.look(signal);
    }
  }

  async release(): Promise<void> {
    this.#held = false;
    await this.#connection?.close();
  }
}

async function take(connection: PostgresConnection): Promise<boolean> {
  const [row] = (await connection.run(LOCK)) as { taken: boolean }[];
  return row?.taken === true;
}
