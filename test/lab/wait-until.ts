import { setTimeout as sleep } from "node:timers/promises";
import { inspect } from "node:util";

export interface WaitOptions<T> {
  /** What is waited for, in words: "machine1 has an address". */
  readonly describe: string;
  /** Gives up after this long; 10 s unless told. */
  readonly deadlineMs?: number;
  readonly everyMs?: number;
  /** When the state is the one waited for; truthy unless told. */
  readonly until?: (state: T) => boolean;
}

/**
 * Looks again and again until the state is the one waited for, and returns that state. Gives up with an error that shows the last state seen,
 * or the last error that looking met.
 */
export async function waitUntil<T>(look: () => T | Promise<T>, options: WaitOptions<T>): Promise<T> {
  const deadlineMs = options.deadlineMs ?? 10_000;
  const until = options.until ?? Boolean;
  const end = performance.now() + deadlineMs;
  for (;;) {
    let seen: string;
    let cause: unknown;
    try {
      const state = await look();
      if (until(state)) return state;
      seen = inspect(state, { depth: 6, breakLength: 120 });
    } catch (error) {
      cause = error;
      seen = error instanceof Error ? error.message : String(error);
    }
    if (performance.now() >= end) {
      throw new Error(`waited ${deadlineMs} ms for: ${options.describe}; last seen: ${seen}`, { cause });
    }
    await sleep(options.everyMs ?? 20);
  }
}
