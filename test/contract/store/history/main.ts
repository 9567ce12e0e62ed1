// Callers that live as the seed says and tell every answer, one a line; exits when all have lived.
// Arguments: URL of a database, or - to ask the parent's ledger; seed, number of the first caller, number of callers, steps of each.
import { silentLog, systemClock } from "@berth/host";
import { writeSync } from "node:fs";
import { openLedger } from "../../../../packages/coordinator/src/ledger/open-ledger.js";
import { createPostgresStore } from "../../../../packages/coordinator/src/store/postgres/postgres-store.js";
import { Caller, type Common, type Told } from "./caller.js";
import { COMMANDS, fastNow, type CommandAnswer, type CommandName, type Commands } from "./commands.js";

const [place = "-", seed = "1", first = "0", count = "1", steps = "1"] = process.argv.slice(2);

function parentsLedger(): Commands {
  const open = new Map<number, (result: unknown) => void>();
  let calls = 0;
  process.on("message", ({ call, result }: CommandAnswer) => open.get(call)?.(result));
  const ask =
    (name: CommandName) =>
    (...args: readonly unknown[]): Promise<unknown> =>
      new Promise((resolve) => {
        calls += 1;
        open.set(calls, resolve);
        process.send?.({ call: calls, name, args });
      });
  return Object.fromEntries(COMMANDS.map((name) => [name, ask(name)])) as unknown as Commands;
}

async function ownLedger(ended: AbortSignal): Promise<{ ledger: Commands; following: Promise<void> }> {
  const ports = { clock: { ...systemClock, now: fastNow }, log: silentLog };
  const store = await createPostgresStore(place, ports);
  const ledger = await openLedger({ ...ports, store, racks: () => [] });
  return { ledger, following: ledger.run(ended).finally(() => store.close()) };
}

function tell(told: Told): void {
  const line = Buffer.from(`${JSON.stringify(told)}\n`);
  for (let from = 0; from < line.length; ) from += writeSync(1, line, from);
}

const ended = new AbortController();
const { ledger, following } =
  place === "-" ? { ledger: parentsLedger(), following: Promise.resolve() } : await ownLedger(ended.signal);
const common: Common = { told: tell, allocations: [], records: [], reservations: [] };
const callers = Array.from(
  { length: Number(count) },
  (_, index) => new Caller({ ledger, common }, Number(first) + index, Number(seed)),
);
await Promise.all(callers.map((caller) => caller.live(Number(steps))));
ended.abort();
await following;
if (process.connected) process.disconnect();
