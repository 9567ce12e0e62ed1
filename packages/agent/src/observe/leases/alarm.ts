import type { Clock } from "@berth/host";

/**
 * Wakes one loop: at a ring, or when the armed time comes. Rings while the loop works are kept as one. The timer stands over many
 * rings, because a busy server rings thousands of times a second and each timer made and thrown away costs more than the work.
 */
export interface Alarm {
  ring(): void;
  /** Resolves at the next ring (at once if it rang since the last wait) or at that monotonic time. Rejects when aborted. */
  waitUntil(at: number): Promise<void>;
}

export function createAlarm(clock: Clock, signal: AbortSignal): Alarm {
  let rung = false;
  let wake: (() => void) | null = null;
  let timer: { readonly at: number; readonly cancel: AbortController } | null = null;

  const ring = (): void => {
    rung = true;
    wake?.();
  };

  const arm = (at: number): void => {
    if (timer !== null && timer.at <= at) return; // rings early at worst, and the loop looks again
    timer?.cancel.abort();
    const cancel = new AbortController();
    const armed = { at, cancel };
    timer = armed;
    clock.sleep(Math.max(0, at - clock.monotonic()), cancel.signal).then(
      () => {
        if (timer === armed) timer = null;
        ring();
      },
      () => undefined, // cancelled: another timer took its place, or the loop has ended
    );
  };

  signal.addEventListener(
    "abort",
    () => {
      timer?.cancel.abort();
      wake?.();
    },
    { once: true },
  );

  return {
    ring,
    async waitUntil(at) {
      signal.throwIfAborted();
      if (!rung) {
        arm(at);
        await new Promise<void>((resolve) => (wake = resolve));
        wake = null;
      }
      rung = false;
      signal.throwIfAborted();
    },
  };
}
