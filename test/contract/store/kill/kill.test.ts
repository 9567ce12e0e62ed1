import { silentLog, systemClock } from "@berth/host";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { openLedger } from "../../../../packages/coordinator/src/ledger/open-ledger.js";
import { createSqliteStore } from "../../../../packages/coordinator/src/store/sqlite-store.js";
import type { KillLine } from "./main.js";

const ROUNDS = 20;
const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** Runs the program until it acknowledged that many requests, kills it in the middle of the next ones, and answers every line it said. */
async function runAndKill(folder: string, round: number, acknowledged: number): Promise<readonly KillLine[]> {
  const env = { ...process.env, TSX_TSCONFIG_PATH: here("./tsx.json") };
  const child: ChildProcess = spawn(process.execPath, ["--import", "tsx/esm", here("./main.ts"), folder, String(round)], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error("no output of the program");
  const errors: string[] = [];
  stderr.on("data", (chunk: Buffer) => errors.push(chunk.toString()));
  const lines: KillLine[] = [];
  let answers = 0;
  for await (const text of createInterface({ input: stdout })) {
    const line = JSON.parse(text) as KillLine;
    lines.push(line);
    if (line.acknowledged) answers += 1;
    if (answers === acknowledged) child.kill("SIGKILL");
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  expect([child.signalCode, errors.join("")]).toEqual(["SIGKILL", ""]);
  return lines;
}

test(
  `what was acknowledged is there after kill -9, and no address is given twice (${ROUNDS} rounds)`,
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "berth-kill-"));
    /** What each machine must have: its address, null for none; undefined where an unanswered request leaves both possible. */
    const known = new Map<string, string | null>();
    try {
      for (let round = 0; round < ROUNDS; round++) {
        const lines = await runAndKill(folder, round, 1 + Math.floor(Math.random() * 400));
        const open = new Set<string>();
        for (const { nic, action, address, acknowledged } of lines) {
          if (!acknowledged) open.add(nic);
          else if (open.delete(nic)) known.set(nic, action === "enroll" ? address : null);
        }
        for (const nic of open) known.delete(nic);
        await compare(folder, known);
      }
    } finally {
      await rm(folder, { recursive: true });
    }
  },
  ROUNDS * 15_000,
);

async function compare(folder: string, known: Map<string, string | null>): Promise<void> {
  const ports = { clock: systemClock, log: silentLog };
  const store = await createSqliteStore(folder, ports);
  const ledger = await openLedger({ ...ports, store, racks: () => [] });
  const stored = new Map(ledger.allocations().map(({ nics, address }) => [nics[0] ?? "", address]));
  expect(new Set(stored.values()).size).toBe(ledger.allocations().length);
  for (const [nic, address] of known) expect([nic, stored.get(nic as never) ?? null]).toEqual([nic, address]);
  for (const { nics } of ledger.machines()) {
    const nic = nics[0] ?? "";
    if (!known.has(nic)) known.set(nic, stored.get(nic) ?? null); // from here on it is settled which way the open request went
  }
  const resting = ledger.quarantines().map(({ address }) => address);
  expect(resting.filter((address) => [...stored.values()].includes(address))).toEqual([]);
  await store.close();
}
