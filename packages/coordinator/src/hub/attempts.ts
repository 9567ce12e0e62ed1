import type { Clock } from "@berth/host";

export interface AttemptLimits {
  /** Failed attempts in one window before the source has to wait. */
  readonly failuresMax: number;
  readonly windowMs: number;
  /** Sources remembered; the oldest is forgotten first. */
  readonly sourcesMax: number;
}

export const JOIN_ATTEMPTS: AttemptLimits = { failuresMax: 10, windowMs: 60_000, sourcesMax: 10_000 };

/** Counts failures by source address, so that tokens cannot be guessed. Successes cost nothing: many racks may join through one translated address. */
export class Attempts {
  readonly #clock: Clock;
  readonly #limits: AttemptLimits;
  readonly #sources = new Map<string, { since: number; failures: number }>();

  constructor(clock: Clock, limits: AttemptLimits = JOIN_ATTEMPTS) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /** Milliseconds until this source may try again, 0 for now. */
  waitMs(source: string): number {
    const entry = this.#sources.get(source);
    if (entry === undefined || entry.failures < this.#limits.failuresMax) return 0;
    return Math.max(0, entry.since + this.#limits.windowMs - this.#clock.monotonic());
  }

  fail(source: string): void {
    const now = this.#clock.monotonic();
    const entry = this.#sources.get(source);
    if (entry !== undefined && now < entry.since + this.#limits.windowMs) {
      entry.failures += 1;
      return;
    }
    this.#sources.delete(source);
    this.#sources.set(source, { since: now, failures: 1 });
    const oldest = this.#sources.keys().next();
    if (this.#sources.size > this.#limits.sourcesMax && oldest.done !== true) this.#sources.delete(oldest.value);
  }
}
