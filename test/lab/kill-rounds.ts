import { setTimeout as sleep } from "node:timers/promises";
import { isAlive } from "./process-state.js";
import { waitUntil } from "./wait-until.js";

/** A program that is killed without warning and started again. */
export interface Target {
  readonly name: string;
  /** The process to kill now; null while there is none. */
  pid(): number | null | Promise<number | null>;
  /** Starts it again; resolves when it is there, ready or not. */
  restart(): Promise<void>;
}

export interface Kill {
  readonly round: number;
  readonly target: string;
  readonly pid: number;
  /** After the round began. */
  readonly afterMs: number;
}

export interface KillRounds {
  readonly seed: number;
  readonly rounds: number;
  readonly targets: readonly Target[];
  /** A kill falls at a random moment between these after its round began; 0..500 ms unless told. */
  readonly moment?: readonly [number, number];
  /** Share of rounds in which all targets die at one moment, not one of them; 0.2 unless told. */
  readonly allShare?: number;
  /** Goes on while the kill falls. That its server dies is no error of it: it must return, with what it was promised noted for the check. */
  readonly work: (round: number) => Promise<void>;
  /** After everything was started again: throws when something was lost or given twice. */
  readonly check: (round: number, kills: readonly Kill[]) => Promise<void>;
}

/**
 * Kills with SIGKILL at random moments of the work, starts again, checks; so many rounds. Moments and victims follow from the seed alone
 * (what the programs were doing then does not); a failure names seed and round. Returns all kills.
 */
export async function runKillRounds(options: KillRounds): Promise<Kill[]> {
  const random = createRandom(options.seed);
  const kills: Kill[] = [];
  for (let round = 1; round <= options.rounds; round++) {
    const plan = planRound(options, random);
    try {
      const killed = await strike(options, plan, round);
      kills.push(...killed);
      for (const target of plan.victims) await target.restart();
      await options.check(round, killed);
    } catch (cause) {
      const whom = plan.victims.map((victim) => victim.name).join(" and ");
      throw new Error(`round ${round} of seed ${options.seed}: killed ${whom} after ${plan.afterMs} ms: ${reasonOf(cause)}`, {
        cause,
      });
    }
  }
  return kills;
}

interface Plan {
  readonly victims: readonly Target[];
  readonly afterMs: number;
}

function planRound(options: KillRounds, random: () => number): Plan {
  const [from, to] = options.moment ?? [0, 500];
  const afterMs = Math.round(from + random() * (to - from));
  const all = random() < (options.allShare ?? 0.2);
  const one = options.targets[Math.floor(random() * options.targets.length)];
  if (one === undefined) throw new Error("kill rounds need a target");
  return { victims: all ? options.targets : [one], afterMs };
}

/** The work has ended when this returns, whatever came of the kill. */
async function strike(options: KillRounds, plan: Plan, round: number): Promise<Kill[]> {
  const [killing, work] = await Promise.allSettled([killAll(plan, round), options.work(round)]);
  if (killing.status === "rejected") throw killing.reason;
  if (work.status === "rejected") throw new Error("the work threw instead of ending", { cause: work.reason });
  return killing.value;
}

/** All victims are struck before the first is waited for. */
async function killAll(plan: Plan, round: number): Promise<Kill[]> {
  await sleep(plan.afterMs);
  const pids = await Promise.all(plan.victims.map(async (victim) => victim.pid()));
  const kills = plan.victims.map(({ name }, index): Kill => {
    const pid = pids[index] ?? null;
    if (pid === null || !isAlive(pid)) throw new Error(`${name} does not run`);
    return { round, target: name, pid, afterMs: plan.afterMs };
  });
  for (const { pid } of kills) process.kill(pid, "SIGKILL");
  for (const { pid, target } of kills) await waitUntil(() => !isAlive(pid), { describe: `${target} (${pid}) is gone` });
  return kills;
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}: ${reasonOf(error.cause)}`;
}

/** Numbers in 0..1 that follow from the seed (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
