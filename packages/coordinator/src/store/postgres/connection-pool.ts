import type { Clock } from "@berth/host";
import type { DatabaseTarget } from "./database-url.js";
import { findWritable } from "./find-writable.js";
import type { PostgresConnection, ReservedSql } from "./postgres-connection.js";

/** The ledger's commits take one at a time; the rest is for reads, reports and plans beside them. */
const CONNECTIONS_MAX = 4;

interface Waiting {
  readonly resolve: (connection: PostgresConnection) => void;
  readonly reject: (error: unknown) => void;
}

/** Connections to the server that can be written, found anew when they break; a few, taken in turn. */
export class ConnectionPool {
  readonly #target: DatabaseTarget;
  readonly #clock: Clock;
  readonly #ending = new AbortController();
  readonly #idle: PostgresConnection[] = [];
  readonly #all = new Set<PostgresConnection>();
  readonly #waiting: Waiting[] = [];
  #opening = 0;

  constructor(target: DatabaseTarget, clock: Clock) {
    this.#target = target;
    this.#clock = clock;
  }

  async reserve(): Promise<ReservedSql> {
    const connection = await this.#take();
    let given = false;
    const release = (): void => {
      if (!given) this.#give(connection);
      given = true;
    };
    return { unsafe: (text, parameters) => connection.run(text, parameters), release };
  }

  /** Open connections are closed, whoever waits is refused. */
  async end(): Promise<void> {
    this.#ending.abort();
    for (const { reject } of this.#waiting.splice(0)) reject(endedError());
    await Promise.all([...this.#all].map((connection) => connection.close()));
  }

  #take(): Promise<PostgresConnection> {
    if (this.#ending.signal.aborted) return Promise.reject(endedError());
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) if (!idle.lost) return Promise.resolve(idle);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#open();
    });
  }

  #give(connection: PostgresConnection): void {
    if (connection.lost) return this.#open();
    const next = this.#waiting.shift();
    if (next === undefined) this.#idle.push(connection);
    else next.resolve(connection);
  }

  /** As many as are waited for and allowed. */
  #open(): void {
    if (this.#opening >= this.#waiting.length || this.#all.size + this.#opening >= CONNECTIONS_MAX) return;
    this.#opening += 1;
    findWritable(this.#target, this.#clock, this.#ending.signal).then(
      (connection) => {
        this.#opening -= 1;
        if (this.#ending.signal.aborted) return connection.drop();
        this.#all.add(connection);
        connection.onLost(() => this.#all.delete(connection));
        this.#give(connection);
        return this.#open();
      },
      (error: unknown) => {
        this.#opening -= 1;
        // Nobody is kept for a search of his own: none could be written for as long as one search lasts.
        for (const { reject } of this.#waiting.splice(0)) reject(error);
      },
    );
  }
}

function endedError(): Error {
  return Object.assign(new Error("the store is closed"), { code: "CONNECTION_ENDED" });
}
