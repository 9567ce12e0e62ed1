import { describeError, type Clock } from "@berth/host";
import type { DatabaseHost, DatabaseTarget } from "./database-url.js";
import { PostgresConnection } from "./postgres-connection.js";
import { isHopeless, postgresError, unreachable } from "./postgres-error.js";

/** How long a caller waits for a server that can be written: longer than a standby takes to be promoted. */
export const FIND_MS = 15_000;
const BETWEEN_MS = 250;
const VERSION_MIN = 150_000;

/**
 * A connection to whichever host can be written. All are asked at once, so that a mute one costs nothing; while none can be written they are
 * asked again, for {@link FIND_MS}. Throws `store-unreachable` with what each host said.
 */
export async function findWritable(target: DatabaseTarget, clock: Clock, signal: AbortSignal): Promise<PostgresConnection> {
  const until = clock.monotonic() + FIND_MS;
  for (;;) {
    const attempts = target.hosts.map((host) => openWritable(target, host, clock));
    try {
      const first = await Promise.any(attempts);
      for (const attempt of attempts) attempt.then((other) => other === first || other.drop()).catch(() => undefined); // said no already
      return first;
    } catch (error) {
      const reasons: unknown[] = error instanceof AggregateError ? error.errors : [error];
      const hopeless = reasons.find(isHopeless);
      if (hopeless !== undefined && reasons.every(isHopeless)) throw postgresError(hopeless, target.shown, "read");
      if (signal.aborted || clock.monotonic() >= until)
        throw unreachable(target.shown, new Error(reasons.map(describeError).join("; ")));
    }
    await clock.sleep(BETWEEN_MS, signal).catch(() => undefined); // aborted: the next turn ends with it
  }
}

async function openWritable(target: DatabaseTarget, host: DatabaseHost, clock: Clock): Promise<PostgresConnection> {
  const connection = new PostgresConnection(target, host, clock);
  try {
    const [row] = (await connection.run(
      "select current_setting('transaction_read_only') as read_only, current_setting('server_version_num')::int as version",
    )) as { read_only: string; version: number }[];
    const name = `${host.host}:${host.port}`;
    if (row === undefined || row.version < VERSION_MIN) throw new Error(`${name} is older than PostgreSQL 15`);
    if (row.read_only !== "off") throw new Error(`${name} is a standby or read-only`);
    return connection;
  } catch (error) {
    await connection.close();
    throw error;
  }
}
