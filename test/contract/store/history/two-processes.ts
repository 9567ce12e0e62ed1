import { checkLedger } from "@berth/core";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import type { AuditRecord, Store } from "../../../../packages/coordinator/src/store/store.js";
import { AuditModel } from "./audit-model.js";
import type { Told } from "./caller.js";
import type { CommandCall, Commands } from "./commands.js";

const PROCESSES = 2;
const CALLERS_EACH = 16;
const STEPS = 40;
const PREFIXES = ["10.0.0.0/25", "10.0.1.0/27", "2001:db8::/64"];

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

export async function declareSubnets(ledger: Commands): Promise<void> {
  for (const [index, prefix] of PREFIXES.entries()) {
    const domain = index === 2 ? "rack6.example" : "rack.example";
    expect((await ledger.createSubnet({ prefix, domain, mode: "static" })).ok).toBe(true);
  }
}

/** 32 callers in two processes live to their end. `place` is the database that both open, or the ledger here that both ask. */
export async function liveInTwoProcesses(place: string | Commands, seed: number): Promise<readonly Told[]> {
  const lives = Array.from({ length: PROCESSES }, (_, index) => live(place, seed, index * CALLERS_EACH));
  return (await Promise.all(lives)).flat();
}

async function live(place: string | Commands, seed: number, first: number): Promise<Told[]> {
  const env = { ...process.env, TSX_TSCONFIG_PATH: here("../kill/tsx.json") };
  const asked = [typeof place === "string" ? place : "-", seed, first, CALLERS_EACH, STEPS].map(String);
  const child = spawn(process.execPath, ["--import", "tsx/esm", here("./main.ts"), ...asked], {
    env,
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  let errors = "";
  child.stderr?.on("data", (chunk: Buffer) => (errors += chunk.toString()));
  if (typeof place !== "string")
    child.on("message", ({ call, name, args }: CommandCall) => {
      const command = place[name] as (...given: readonly unknown[]) => Promise<unknown>;
      command(...args).then(
        (result) => child.send({ call, result }),
        (error: unknown) => (errors += String(error)),
      );
    });
  const told: Told[] = [];
  const reading = (async () => {
    if (child.stdout === null) throw new Error("no output of the program");
    for await (const line of createInterface({ input: child.stdout })) told.push(JSON.parse(line) as Told);
  })();
  const [code] = (await once(child, "exit")) as [number | null];
  await reading;
  expect([code, errors]).toEqual([0, ""]);
  return told;
}

/** The store that is left, held against what its audit log says happened and against what the callers were told. */
export async function compareWithModel(store: Store, told: readonly Told[]): Promise<void> {
  const model = new AuditModel();
  for (let page: readonly AuditRecord[] = [], after = 0; ; after = page.at(-1)?.number ?? after) {
    page = await store.audit.list(after, 500);
    for (const entry of page) model.apply(entry);
    if (page.length === 0) break;
  }
  const { content } = await store.ledger.load();
  model.compare(content, told);
  expect(checkLedger(content)).toEqual([]);
  expect(model.made).toBeGreaterThan(100);
}
