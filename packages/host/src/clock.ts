/** Time as a port: the core is handed `now`, shells ask this. */
export interface Clock {
  /** Milliseconds since 1970, the wall clock; may step. */
  now(): number;
  /** Milliseconds that never step back; only differences mean anything. */
  monotonic(): number;
  /** Resolves after that long, or rejects with the signal's reason when it is aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** setTimeout's own limit; longer sleeps are cut into pieces. */
const TIMER_MAX_MS = 2_147_483_647;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  async sleep(ms, signal) {
    for (let left = ms; left > 0; left -= TIMER_MAX_MS) await sleepOnce(Math.min(left, TIMER_MAX_MS), signal);
    signal?.throwIfAborted();
  },
};

function sleepOnce(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(signal.reason as Error);
      return;
    }
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
