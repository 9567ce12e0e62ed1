import { silentLog, systemClock } from "@berth/host";
import { afterAll, beforeAll, test } from "vitest";
import { openLedger } from "../../../packages/coordinator/src/ledger/open-ledger.js";
import { createPostgresStore } from "../../../packages/coordinator/src/store/postgres/postgres-store.js";
import { Acknowledged, KilledProgram } from "../../contract/store/kill/killed-program.js";
import { PostgresServer } from "./postgres-server.js";

/** The long run: BERTH_KILL_ROUNDS=200. */
const ROUNDS = Number(process.env.BERTH_KILL_ROUNDS ?? 6);
const SEED = Number(process.env.BERTH_KILL_SEED ?? 5);
const CALLERS = 16;
const ports = { clock: systemClock, log: silentLog };
const random = seeded(SEED);
let server: PostgresServer;

beforeAll(async () => {
  server = await PostgresServer.create();
});
afterAll(() => server.remove());

test(
  `what two coordinators acknowledged is there after kill -9 of them and of PostgreSQL (${ROUNDS} rounds, seed ${SEED})`,
  async () => {
    const url = server.url(await server.createDatabase("killed"));
    const known = new Acknowledged();
    for (let round = 0; round < ROUNDS; round++) {
      const programs = [new KilledProgram(url, round), new KilledProgram(url, round, CALLERS)] as const;
      await Promise.all(programs.map((program) => program.answered(1 + Math.floor(random() * 200))));
      if (round % 3 === 0) await killDatabase(programs);
      if (round % 3 === 1) await surviveAlone(programs);
      await Promise.all(programs.map((program) => program.kill()));
      for (const { lines } of programs) known.add(lines);
      const store = await createPostgresStore(url, ports);
      known.compare(await openLedger({ ...ports, store, racks: () => [] }));
      await store.close();
    }
  },
  60_000 + ROUNDS * 30_000,
);

/** Both go on by themselves when it is back. */
async function killDatabase(programs: readonly KilledProgram[]): Promise<void> {
  await server.kill();
  await server.start();
  await Promise.all(programs.map((program) => program.answered(program.acknowledged + 1 + Math.floor(random() * 50))));
}

/** One dies in the middle of its commits, the other is not held up by what it left. */
async function surviveAlone([first, second]: readonly [KilledProgram, KilledProgram]): Promise<void> {
  await first.kill();
  await second.answered(second.acknowledged + 1 + Math.floor(random() * 100));
}

/** Numerical Recipes' linear congruential generator: the same seed, the same run. */
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
