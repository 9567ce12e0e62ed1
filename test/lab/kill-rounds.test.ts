import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createRandom, runKillRounds, type Kill, type Target } from "./kill-rounds.js";
import { isAlive } from "./process-state.js";
import { Running } from "./running.js";
import { waitUntil } from "./wait-until.js";

/** A program of the suite under the knife: a shell that writes its pid and a number, again and again. */
class Writer implements Target {
  readonly name: string;
  readonly file: string;
  running: Running | null = null;

  constructor(name: string, directory: string) {
    this.name = name;
    this.file = join(directory, name);
    writeFileSync(this.file, "");
  }

  pid(): number | null {
    return this.running?.isRunning === true ? this.running.pid : null;
  }

  async restart(): Promise<void> {
    const script = 'n=0; while :; do n=$((n+1)); echo "$$ $n" >> "$0"; sleep 0.01; done';
    this.running = await Running.start(["sh", "-c", script, this.file]);
    const { pid } = this.running;
    await waitUntil(() => this.lives().includes(String(pid)), { describe: `${this.name} writes` });
  }

  /** The pids that have written, in order. */
  lives(): string[] {
    const lines = readFileSync(this.file, "utf8").split("\n").slice(0, -1);
    return [...new Set(lines.map((line) => line.split(" ")[0] ?? ""))];
  }
}

describe("kill rounds", () => {
  let directory: string;
  const writers: Writer[] = [];
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), "berth-kill-"));
  });
  afterEach(async () => {
    await Promise.all(writers.map(async (writer) => writer.running?.stop({ signal: "SIGKILL" })));
  });
  afterAll(() => rmSync(directory, { recursive: true }));

  async function startWriter(name: string): Promise<Writer> {
    const writer = new Writer(name, directory);
    writers.push(writer);
    await writer.restart();
    return writer;
  }

  it("kills one or all of them in each round, at moments that follow from the seed", async () => {
    const shapes: unknown[][] = [];
    for (const run of ["first", "second"]) {
      const targets = [await startWriter(`${run}-a`), await startWriter(`${run}-b`)];
      const check = (_round: number, struck: readonly Kill[]): Promise<void> => {
        expect(struck.filter((kill) => isAlive(kill.pid))).toEqual([]);
        expect(targets.map((target) => target.running?.isRunning)).toEqual([true, true]);
        return Promise.resolve();
      };
      const work = (): Promise<void> => Promise.resolve();
      const kills = await runKillRounds({ seed: 7, rounds: 12, targets, moment: [0, 20], allShare: 0.3, work, check });
      expect(new Set(kills.map((kill) => kill.pid)).size).toBe(kills.length);
      // Every kill began a new life of its target.
      expect(targets.reduce((sum, target) => sum + target.lives().length, 0)).toBe(kills.length + 2);
      shapes.push(kills.map(({ round, target, afterMs }) => [round, target.split("-")[1], afterMs]));
    }
    expect(shapes[0]).toEqual(shapes[1]);
    expect(shapes[0]?.length).toBeGreaterThan(12); // some rounds took both
  });

  it("fails with seed, round and victim when the check finds a loss", async () => {
    const target = await startWriter("loser");
    const check = (round: number): Promise<void> =>
      round === 2 ? Promise.reject(new Error(`${target.lives().length} lives`)) : Promise.resolve();
    const work = (): Promise<void> => Promise.resolve();
    const run = runKillRounds({ seed: 3, rounds: 5, targets: [target], moment: [5, 20], work, check });
    await expect(run).rejects.toThrow(/^round 2 of seed 3: killed loser after \d+ ms: 3 lives$/);
  });

  it("says so when a target died by itself, and still waits for the work", async () => {
    const target = await startWriter("gone");
    await target.running?.stop({ signal: "SIGKILL" });
    let ended = false;
    const work = async (): Promise<void> => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      ended = true;
    };
    const check = (): Promise<void> => Promise.resolve();
    const run = runKillRounds({ seed: 1, rounds: 1, targets: [target], moment: [0, 1], work, check });
    await expect(run).rejects.toThrow(/gone does not run/);
    expect(ended).toBe(true);
  });

  it("draws evenly", () => {
    const random = createRandom(1);
    const tenths = new Array<number>(10).fill(0);
    for (let n = 0; n < 10_000; n++) {
      const tenth = Math.floor(random() * 10);
      tenths[tenth] = (tenths[tenth] ?? 0) + 1;
    }
    expect(Math.min(...tenths)).toBeGreaterThan(850);
    expect(Math.max(...tenths)).toBeLessThan(1150);
  });
});
