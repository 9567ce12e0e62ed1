import { silentLog, systemClock } from "@berth/host";
import { afterAll, beforeAll, test } from "vitest";
import { openLedger } from "../../../packages/coordinator/src/ledger/open-ledger.js";
import { createPostgresStore } from "../../../packages/coordinator/src/store/postgres/postgres-store.js";
import { fastNow } from "../../contract/store/history/commands.js";
import { compareWithModel, declareSubnets, liveInTwoProcesses } from "../../contract/store/history/two-processes.js";
import { PostgresServer } from "./postgres-server.js";

const ports = { clock: { ...systemClock, now: fastNow }, log: silentLog };
let server: PostgresServer;

beforeAll(async () => {
  server = await PostgresServer.create(["fsync=off"]);
});
afterAll(() => server.remove());

test.each([1, 2])(
  "seed %i: what 32 callers of two coordinators' processes did on PostgreSQL is what a plain model makes of the audit log, and what they were told",
  async (seed) => {
    const url = server.url(await server.createDatabase(`history${seed}`));
    const store = await createPostgresStore(url, ports);
    await declareSubnets(await openLedger({ ...ports, store, racks: () => [] }));
    const told = await liveInTwoProcesses(url, seed);
    await compareWithModel(store, told);
    await store.close();
  },
  120_000,
);
