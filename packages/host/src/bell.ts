import type { Clock } from "./clock.js";

/**
 * Wakes one waiting loop. Rings while nobody waits are kept, as one: the loop then looks at everything that is new, so nothing depends
 * on how often it rang.
 */
export interface Bell {
  ring(): void;
  /** Resolves at the next ring, at once if it rang since the last wait, or after `ms`. Rejects with the signal's reason. */
  wait(ms: number, signal?: AbortSignal): Promise<void>;
}

export function createBell(clock: Clock): Bell {
  let rung = false;
  let wake: (() => void) | null = null;
  return {
    ring() {
      rung = true;
      wake?.();
    },
    async wait(ms, signal) {
      signal?.throwIfAborted();
      if (!rung) {
        const pause = new AbortController();
        wake = () => pause.abort();
        const either = signal === undefined ? pause.signal : AbortSignal.any([pause.signal, signal]);
        try {
          await clock.sleep(ms, either);
        } catch (reason) {
          if (!pause.signal.aborted) throw reason;
        } finally {
          wake = null;
        }
      }
      signal?.throwIfAborted();
      rung = false;
    },
  };
}
