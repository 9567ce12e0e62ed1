import type { Clock } from "../clock.js";

export interface FakeClock extends Clock {
  /** Lets time pass: wall clock and monotonic clock move, sleepers whose time has come wake in order. */
  advance(ms: number): Promise<void>;
  /** Sets the wall clock as an administrator or NTP does: the monotonic clock and sleepers do not notice. */
  step(ms: number): void;
  /** Sleepers that have not woken yet. */
  readonly sleepers: number;
}

interface Sleeper {
  readonly at: number;
  wake(): void;
}

/** A clock that stands still until told; starts at that wall time (milliseconds since 1970). */
export function createFakeClock(startMs: number): FakeClock {
  let monotonic = 0;
  let wallOffset = startMs;
  let sleepers: readonly Sleeper[] = [];
  return {
    now: () => monotonic + wallOffset,
    monotonic: () => monotonic,
    get sleepers() {
      return sleepers.length;
    },
    sleep(ms, signal) {
      return new Promise((resolve, reject) => {
        if (signal?.aborted === true) {
          reject(signal.reason as Error);
          return;
        }
        if (ms <= 0) {
          resolve();
          return;
        }
        const leave = (): void => {
          sleepers = sleepers.filter((other) => other !== sleeper);
          signal?.removeEventListener("abort", onAbort);
        };
        const onAbort = (): void => {
          leave();
          reject(signal?.reason as Error);
        };
        const sleeper: Sleeper = {
          at: monotonic + ms,
          wake: () => {
            leave();
            resolve();
          },
        };
        signal?.addEventListener("abort", onAbort, { once: true });
        sleepers = [...sleepers, sleeper];
      });
    },
    async advance(ms) {
      await letOthersRun(); // what was set going before belongs to the time before
      const end = monotonic + ms;
      for (;;) {
        const due = sleepers.filter((sleeper) => sleeper.at <= end).sort((a, b) => a.at - b.at)[0];
        if (due === undefined) break;
        monotonic = Math.max(monotonic, due.at);
        due.wake();
        await letOthersRun();
      }
      monotonic = end;
      await letOthersRun();
    },
    step(ms) {
      wallOffset += ms;
    },
  };
}

/** Promise reactions of what has just been woken run, and what they start in turn. */
function letOthersRun(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
