/**
 * The three facts of a managed daemon, kept apart: digests of what it should run, of what lies on disk and of what the process last
 * started with. Null: nothing (no configuration wanted, no file, no process).
 */
export interface DaemonFacts {
  readonly desired: string | null;
  readonly written: string | null;
  readonly running: string | null;
}

/** What went wrong last, so that a failing activation is retried with growing pauses and a bad content is not tried in a tight loop. */
export interface DaemonFailure {
  /** The digest that could not be brought to run. */
  readonly desired: string;
  /** How often in a row. */
  readonly count: number;
  /** Milliseconds, same clock as `now`. */
  readonly at: number;
}

export interface DaemonHistory {
  readonly failure: DaemonFailure | null;
  /** Monotonic milliseconds of the last start that we made; null before the first. */
  readonly startedAt: number | null;
}

export type DaemonStep =
  | { readonly do: "nothing" }
  | { readonly do: "stop" }
  /** Review, validate, replace the file, restart, verify. */
  | { readonly do: "activate" }
  /** The file is right, the process is not: start it with the file as it is. */
  | { readonly do: "start" }
  /** The process runs what is wanted, and its file is another: put the file right, leave the process alone. */
  | { readonly do: "rewrite" }
  | { readonly do: "wait"; readonly ms: number };

/** Restarts closer together than this are put off and so become one; the first change after a quiet time is acted on at once. */
export const RESTART_INTERVAL_MS = 1_000;
const RETRY_MIN_MS = 1_000;
const RETRY_MAX_MS = 60_000;

/** One decision of a daemon's reconciler; level-triggered: it looks only at how things are. `now` in monotonic milliseconds. */
export function stepDaemon(facts: DaemonFacts, history: DaemonHistory, now: number): DaemonStep {
  if (facts.desired === null) return facts.running === null ? { do: "nothing" } : { do: "stop" };
  if (facts.desired === facts.written && facts.desired === facts.running) return { do: "nothing" };
  const pause = retryPause(facts.desired, history.failure, now);
  if (pause > 0) return { do: "wait", ms: pause };
  if (facts.desired === facts.running) return { do: "rewrite" };
  const settle = history.startedAt === null ? 0 : history.startedAt + RESTART_INTERVAL_MS - now;
  if (settle > 0) return { do: "wait", ms: settle };
  return facts.desired === facts.written ? { do: "start" } : { do: "activate" };
}

/** Doubling from a second to a minute while the same content fails; other content is tried at once. */
export function retryPause(desired: string, failure: DaemonFailure | null, now: number): number {
  if (failure?.desired !== desired) return 0;
  const pause = Math.min(RETRY_MAX_MS, RETRY_MIN_MS * 2 ** Math.min(failure.count - 1, 16));
  return Math.max(0, failure.at + pause - now);
}

export function recordFailure(history: DaemonHistory, desired: string, now: number): DaemonHistory {
  const count = history.failure?.desired === desired ? history.failure.count + 1 : 1;
  return { ...history, failure: { desired, count, at: now } };
}
