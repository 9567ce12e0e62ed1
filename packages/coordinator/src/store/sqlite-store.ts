import { QueuedReports } from "./queued-reports.js";
import { openSqlite, type StorePorts } from "./open-sqlite.js";
import { sqliteApiTokens } from "./sqlite-api-tokens.js";
import { sqliteAudit } from "./sqlite-audit.js";
import { sqliteLedger } from "./sqlite-ledger.js";
import { sqlitePlans } from "./sqlite-plans.js";
import { sqliteRacks, sqliteSettings, sqliteTokens } from "./sqlite-racks.js";
import { sqliteReports } from "./sqlite-reports.js";
import { sqliteTopology } from "./sqlite-topology.js";
import { sqliteWire } from "./sqlite-wire.js";
import type { Store } from "./store.js";

/**
 * The embedded store: one SQLite database in the data folder, owned by one coordinator until {@link Store.close}. Throws
 * `data-folder-in-use` when another coordinator has it, `store-newer` when a newer version wrote it; see {@link openSqlite} for the rest.
 */
export async function createSqliteStore(dataFolder: string, ports: StorePorts): Promise<Store> {
  const folder = await openSqlite(dataFolder, ports);
  const { connection } = folder;
  const reports = new QueuedReports(sqliteReports(connection), ports);
  return {
    ledger: sqliteLedger(connection),
    racks: sqliteRacks(connection, (rackId) => reports.forget(rackId)),
    tokens: sqliteTokens(connection),
    apiTokens: sqliteApiTokens(connection),
    settings: sqliteSettings(connection),
    plans: sqlitePlans(connection),
    audit: sqliteAudit(connection),
    reports,
    topology: sqliteTopology(connection),
    wire: sqliteWire(connection),
    problem: () => connection.writeProblem(),
    async close() {
      try {
        await reports.close();
      } finally {
        await folder.close();
      }
    },
  };
}
