import { silentLog, systemClock } from "@berth/host";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "vitest";
import { openLedger } from "../../../../packages/coordinator/src/ledger/open-ledger.js";
import { createSqliteStore } from "../../../../packages/coordinator/src/store/sqlite-store.js";
import { fastNow } from "./commands.js";
import { compareWithModel, declareSubnets, liveInTwoProcesses } from "./two-processes.js";

const ports = { clock: { ...systemClock, now: fastNow }, log: silentLog };

test.each([1, 2])(
  "seed %i: what 32 callers of two processes did on SQLite is what a plain model makes of the audit log, and what they were told",
  async (seed) => {
    const folder = await mkdtemp(join(tmpdir(), "berth-history-"));
    const store = await createSqliteStore(folder, ports);
    const ledger = await openLedger({ ...ports, store, racks: () => [] });
    await declareSubnets(ledger);
    const told = await liveInTwoProcesses(ledger, seed);
    await ledger.settled();
    await store.close();
    const again = await createSqliteStore(folder, ports);
    await compareWithModel(again, told);
    await again.close();
    await rm(folder, { recursive: true });
  },
  120_000,
);
