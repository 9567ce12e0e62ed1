import type { Clock } from "@berth/host";

/** Wakes a loop: many nudges are one, and none that comes during a pass is lost. */
export class Wakeup {
  private readonly clock: Clock;
  private nudged = false;
  private wake: (() => void) | null = null;
  private readonly waiters: (() => void)[] = [];

  constructor(clock: Clock) {
    this.clock = clock;
  }

  nudge(): void {
    this.nudged = true;
    this.wake?.();
  }

  /** Nudges, and resolves when a pass that began afterwards has ended. */
  nextPass(): Promise<void> {
    return new Promise((resolve) => {
      this.waiters.push(resolve);
      this.nudge();
    });
  }

  /** At the start of a pass: everything asked until now is answered when the result is called, at its good end. */
  take(): () => void {
    this.nudged = false;
    const asked = this.waiters.length;
    return () => {
      for (const resolve of this.waiters.splice(0, asked)) resolve();
    };
  }

  /** Resolves `atLeastMs` from now when nudged, `atMostMs` from now when not, and at once when aborted. */
  async wait(
    { atLeastMs, atMostMs }: { readonly atLeastMs: number; readonly atMostMs: number },
    signal: AbortSignal,
  ): Promise<void> {
    await this.sleep(atLeastMs, signal);
    if (this.nudged || signal.aborted) return;
    const early = new AbortController();
    this.wake = () => early.abort();
    await this.sleep(atMostMs - atLeastMs, AbortSignal.any([signal, early.signal]));
    this.wake = null;
  }

  private async sleep(ms: number, signal: AbortSignal): Promise<void> {
    try {
      await this.clock.sleep(ms, signal);
    } catch (error) {
      if (!signal.aborted) throw error; // an aborted sleep is what was asked for
    }
  }
}
