import { silentLog, systemClock } from "@berth/host";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "vitest";
import { openLedger } from "../../../../packages/coordinator/src/ledger/open-ledger.js";
import { createSqliteStore } from "../../../../packages/coordinator/src/store/sqlite-store.js";
import { Acknowledged, KilledProgram } from "./killed-program.js";

/** The long run: BERTH_KILL_ROUNDS=200. */
const ROUNDS = Number(process.env.BERTH_KILL_ROUNDS ?? 20);
const ports = { clock: systemClock, log: silentLog };

test(
  `what was acknowledged is there after kill -9, and no address is given twice (${ROUNDS} rounds)`,
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "berth-kill-"));
    const known = new Acknowledged();
    try {
      for (let round = 0; round < ROUNDS; round++) {
        const program = new KilledProgram(folder, round);
        await program.answered(1 + Math.floor(Math.random() * 400));
        await program.kill();
        known.add(program.lines);
        const store = await createSqliteStore(folder, ports);
        known.compare(await openLedger({ ...ports, store, racks: () => [] }));
        await store.close();
      }
    } finally {
      await rm(folder, { recursive: true });
    }
  },
  ROUNDS * 15_000,
);
