import { migrate } from "../migrate.js";
import type { StorePorts } from "../open-sqlite.js";
import { QueuedReports } from "../queued-reports.js";
import type { Store } from "../store.js";
import { postgresApiTokens } from "./postgres-api-tokens.js";
import { postgresAudit } from "./postgres-audit.js";
import { PostgresDatabase } from "./postgres-database.js";
import { postgresError } from "./postgres-error.js";
import { PostgresLedger } from "./postgres-ledger.js";
import { postgresPlans } from "./postgres-plans.js";
import { postgresRacks, postgresSettings, postgresTokens } from "./postgres-racks.js";
import { postgresReports } from "./postgres-reports.js";
import { postgresTopology } from "./postgres-topology.js";
import { postgresWire } from "./postgres-wire.js";

/**
 * A store in a PostgreSQL database that several coordinators may share: `postgres://USER:PASSWORD@HOST:PORT,HOST:PORT/DATABASE`, of whose hosts
 * the one that can be written is found. Makes the tables or brings them to this version. Throws `database-url-malformed`,
 * `store-unreachable`, `store-newer`.
 */
export async function createPostgresStore(url: string, ports: StorePorts): Promise<Store> {
  const database = new PostgresDatabase(url, ports.clock);
  const { shown } = database.target;
  try {
    const named = (cause: unknown): unknown => postgresError(cause, shown, "write");
    await database.attempt("write", () => migrate(database.query, { shown, log: ports.log, named }));
    const ledger = await PostgresLedger.open(database, ports);
    const reports = new QueuedReports(postgresReports(database), ports);
    return {
      ledger,
      racks: postgresRacks(database, (rackId) => reports.forget(rackId)),
      tokens: postgresTokens(database),
      apiTokens: postgresApiTokens(database),
      settings: postgresSettings(database),
      plans: postgresPlans(database),
      audit: postgresAudit(database),
      reports,
      topology: postgresTopology(database),
      wire: postgresWire(database),
      problem: () => database.writeProblem(),
      async close() {
        ledger.end();
        try {
          await reports.close();
        } finally {
          await database.close();
        }
      },
    };
  } catch (error) {
    await database.close();
    throw error;
  }
}
