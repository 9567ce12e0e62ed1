// Fills the disk under a ledger, says what happened, makes room and goes on. Argument: an empty disk of its own.
import { parseHardwareAddress, type HardwareAddress } from "@berth/core";
import { EnvironmentError, silentLog, systemClock } from "@berth/host";
import { appendFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { openLedger } from "../../../packages/coordinator/src/ledger/open-ledger.js";
import { createSqliteStore } from "../../../packages/coordinator/src/store/sqlite-store.js";

/** One line of JSON at the end. */
export interface FullDiskStory {
  readonly code: string;
  readonly remedy: string | undefined;
  /** Allocations that readers still saw, and those that were acknowledged. */
  readonly read: number;
  readonly acknowledged: number;
  readonly afterwards: boolean;
  readonly reloaded: number;
}

const ports = { clock: systemClock, log: silentLog };
const [disk = ""] = process.argv.slice(2);
const ballast = join(disk, "ballast");

function nic(number: number): HardwareAddress {
  const address = parseHardwareAddress(`02:00:00:00:${(number >> 8).toString(16)}:${(number & 255).toString(16)}`);
  if (address === null) throw new Error("not a NIC");
  return address;
}

function fillDisk(): void {
  for (const octets of [65_536, 4096, 1]) {
    try {
      for (;;) appendFileSync(ballast, "x".repeat(octets));
    } catch {
      continue; // full for pieces of this size
    }
  }
}

async function failure(
  attempt: (number: number) => Promise<unknown>,
): Promise<{ error: EnvironmentError; acknowledged: number }> {
  for (let number = 1; ; number++) {
    try {
      await attempt(number);
    } catch (error) {
      if (!(error instanceof EnvironmentError)) throw error;
      return { error, acknowledged: number - 1 };
    }
  }
}

const store = await createSqliteStore(join(disk, "data"), ports);
const ledger = await openLedger({ ...ports, store, racks: () => [] });
await ledger.createSubnet({ prefix: "10.0.0.0/16", domain: "example.com", mode: "static" });
fillDisk();
const { error, acknowledged } = await failure((number) => ledger.enroll({ nics: [nic(number)], subnet: "1" }));
const read = ledger.allocations().length;
rmSync(ballast);
const { ok: afterwards } = await ledger.enroll({ nics: [nic(60_000)], subnet: "1" });
await store.close();
const again = await createSqliteStore(join(disk, "data"), ports);
const reloaded = (await again.ledger.load()).content.allocations.length;
await again.close();
const story: FullDiskStory = { code: error.code, remedy: error.remedy, read, acknowledged, afterwards, reloaded };
process.stdout.write(`${JSON.stringify(story)}\n`);
