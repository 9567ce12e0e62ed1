import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import type { Ledger } from "../../../../packages/coordinator/src/ledger/ledger.js";
import type { KillLine } from "./main.js";

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** `main.ts` in a process of its own, which enrolls and releases until it is killed. */
export class KilledProgram {
  readonly lines: KillLine[] = [];
  acknowledged = 0;
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  #errors = "";
  #onLine: () => void = () => undefined;

  constructor(place: string, round: number, firstCaller = 0) {
    const env = { ...process.env, TSX_TSCONFIG_PATH: here("./tsx.json") };
    const args = ["--import", "tsx/esm", here("./main.ts"), place, String(round), String(firstCaller)];
    this.#child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "pipe"] });
    this.#ended = this.#read();
  }

  /** Resolves when it was told so many answers; throws what it said when it ends before. */
  async answered(count: number): Promise<void> {
    await Promise.race([
      this.#ended,
      new Promise<void>((resolve) => {
        this.#onLine = () => this.acknowledged >= count && resolve();
        this.#onLine();
      }),
    ]);
    if (this.acknowledged < count) throw new Error(`the program ended after ${this.acknowledged} answers: ${this.#errors}`);
  }

  /** kill -9. Every line it said is in `lines` afterwards. */
  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#ended;
    if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, "exit");
    expect([this.#child.signalCode, this.#errors]).toEqual(["SIGKILL", ""]);
  }

  async #read(): Promise<void> {
    const { stdout, stderr } = this.#child;
    if (stdout === null || stderr === null) throw new Error("no output of the program");
    stderr.on("data", (chunk: Buffer) => (this.#errors += chunk.toString()));
    for await (const text of createInterface({ input: stdout })) {
      const line = JSON.parse(text) as KillLine;
      this.lines.push(line);
      if (line.acknowledged) this.acknowledged += 1;
      this.#onLine();
    }
  }
}

/** What each machine must have after all that was acknowledged. */
export class Acknowledged {
  /** Its address, null for none; absent where an unanswered request leaves both possible. */
  readonly #known = new Map<string, string | null>();

  add(lines: readonly KillLine[]): void {
    const open = new Set<string>();
    for (const { nic, action, address, acknowledged } of lines) {
      if (!acknowledged) open.add(nic);
      else if (open.delete(nic)) this.#known.set(nic, action === "enroll" ? address : null);
    }
    for (const nic of open) this.#known.delete(nic);
  }

  /** Holds a ledger, just loaded, against it; from then on it is settled which way the open requests went. */
  compare(ledger: Ledger): void {
    const stored = new Map(ledger.allocations().map(({ nics, address }) => [nics[0] ?? "", address]));
    expect(new Set(stored.values()).size).toBe(ledger.allocations().length);
    for (const [nic, address] of this.#known) expect([nic, stored.get(nic as never) ?? null]).toEqual([nic, address]);
    for (const { nics } of ledger.machines()) {
      const nic = nics[0] ?? "";
      if (!this.#known.has(nic)) this.#known.set(nic, stored.get(nic) ?? null);
    }
    const given = new Set<string>(stored.values());
    expect(ledger.quarantines().filter(({ address }) => given.has(address))).toEqual([]);
  }
}
