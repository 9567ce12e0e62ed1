import { parseHardwareAddress } from "@berth/core";
import { silentLog, systemClock } from "@berth/host";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openLedger } from "../../../packages/coordinator/src/ledger/open-ledger.js";
import { createPostgresStore } from "../../../packages/coordinator/src/store/postgres/postgres-store.js";
import { PostgresServer } from "./postgres-server.js";

const ports = { clock: systemClock, log: silentLog };
const COMMITS = 30;
let server: PostgresServer;

beforeAll(async () => {
  server = await PostgresServer.create(["fsync=off", "autovacuum=off"]);
});
afterAll(() => server.remove());

interface Reads {
  readonly name: string;
  readonly whole: number;
  readonly byKey: number;
}

/** How often each table was read from end to end, and by a key; sessions tell it when they end. */
function readsOf(database: string): Promise<readonly Reads[]> {
  return server.ask(
    database,
    (sql) =>
      sql<Reads[]>`select relname as name, seq_scan::int as whole, idx_scan::int as "byKey" from pg_stat_user_tables
        where relname in ('ledger', 'ledger_change', 'subnet', 'machine', 'nic', 'allocation', 'audit') order by relname`,
  );
}

test("a commit reads no table from end to end, although its statements were planned on an empty database", async () => {
  const database = await server.createDatabase("reads");
  const store = await createPostgresStore(server.url(database), ports);
  const ledger = await openLedger({ ...ports, store, racks: () => [] });
  await ledger.createSubnet({ prefix: "10.0.0.0/24", domain: "example.com", mode: "static" });
  for (let machine = 1; machine <= COMMITS; machine++) {
    const nic = parseHardwareAddress(`02:00:00:00:00:${machine.toString(16)}`);
    if (nic === null) throw new Error("not a NIC");
    expect(await ledger.enroll({ nics: [nic], subnet: "1" })).toMatchObject({ ok: true });
  }
  expect(ledger.revision).toBe(COMMITS + 1);
  await store.close();
  await expect
    .poll(async () => (await readsOf(database)).find(({ name }) => name === "ledger")?.byKey)
    .toBeGreaterThan(COMMITS - 1);
  const reads = await readsOf(database);
  expect(reads).toHaveLength(7);
  expect(reads.filter(({ whole }) => whole >= COMMITS)).toEqual([]);
});
