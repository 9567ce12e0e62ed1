// Enrolls and releases machines for ever and says of each what was acknowledged, until it is killed.
// Arguments: data folder or URL of a database, round, number of the first caller.
import { parseHardwareAddress, type HardwareAddress } from "@berth/core";
import { EnvironmentError, errnoOf, silentLog, systemClock } from "@berth/host";
import { writeSync } from "node:fs";
import { openLedger } from "../../../../packages/coordinator/src/ledger/open-ledger.js";
import { createPostgresStore } from "../../../../packages/coordinator/src/store/postgres/postgres-store.js";
import { createSqliteStore } from "../../../../packages/coordinator/src/store/sqlite-store.js";

/** One line before the request, one after its answer. */
export interface KillLine {
  readonly nic: HardwareAddress;
  readonly action: "enroll" | "release";
  /** Null before the answer. */
  readonly address: string | null;
  readonly acknowledged: boolean;
}

const CALLERS = 16;

/** At once, not when the event loop comes to it: what was acknowledged must be known before anything else happens. */
function say(line: KillLine): void {
  for (let rest = Buffer.from(`${JSON.stringify(line)}\n`); rest.length > 0; ) {
    try {
      rest = rest.subarray(writeSync(1, rest));
    } catch (error) {
      if (errnoOf(error) !== "EAGAIN") throw error; // the pipe is full: its reader comes to it
    }
  }
}

/** A database that is away is asked again: the request is the same, so is its answer. */
async function persist<T>(request: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await request();
    } catch (error) {
      if (!(error instanceof EnvironmentError) || error.code !== "store-unreachable") throw error;
    }
  }
}

async function main(place: string, round: number, firstCaller: number): Promise<void> {
  const ports = { clock: systemClock, log: silentLog };
  const create = place.startsWith("postgres:") ? createPostgresStore : createSqliteStore;
  const store = await persist(() => create(place, ports));
  const ledger = await openLedger({ ...ports, store, racks: () => [] });
  const following = ledger.run(new AbortController().signal);
  if (ledger.subnets().length === 0) await ledger.createSubnet({ prefix: "10.0.0.0/16", domain: "kill.example", mode: "static" });
  await Promise.all([following, ...Array.from({ length: CALLERS }, (_, caller) => call(firstCaller + caller))]);

  /** Each caller has machines of its own and waits for each answer, so at most one request a machine is open when the end comes. */
  async function call(caller: number): Promise<void> {
    for (let step = round; ; step++) {
      const nic = parseHardwareAddress(`02:00:00:00:${caller.toString(16)}:${(step % 50).toString(16)}`);
      if (nic === null) throw new Error("not a NIC");
      say({ nic, action: "enroll", address: null, acknowledged: false });
      const enrolled = await persist(() => ledger.enroll({ nics: [nic], subnet: "1" }));
      if (!enrolled.ok) throw new Error(JSON.stringify(enrolled.problems));
      say({ nic, action: "enroll", address: enrolled.value.allocation.address, acknowledged: true });
      if (step % 3 !== 0) continue;
      say({ nic, action: "release", address: null, acknowledged: false });
      await persist(() => ledger.release(nic));
      say({ nic, action: "release", address: null, acknowledged: true });
    }
  }
}

const [place = "", round = "0", firstCaller = "0"] = process.argv.slice(2);
await main(place, Number(round), Number(firstCaller));
