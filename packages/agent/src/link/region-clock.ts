import type { Clock } from "@berth/host";

/** A wall clock that moved by so much against the monotonic one was set, and the region has to hear of it. */
const STEP_MS = 5_000;

/** How this host's clock stands to the region's: measured at each welcome and followed from then on, since somebody may set it. */
export class RegionClock {
  readonly #clock: Clock;
  #measured: { readonly aheadMs: number; readonly offset: number } | null = null;
  /** Of wall and monotonic clock when the region was last told the time. */
  #toldOffset: number | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The region said its time, in milliseconds since 1970. */
  measure(regionNow: number): void {
    this.#measured = { aheadMs: this.#clock.now() - regionNow, offset: this.#offset() };
  }

  /** Milliseconds; null before the first measurement. */
  aheadMs(): number | null {
    if (this.#measured === null) return null;
    return Math.round(this.#measured.aheadMs + this.#offset() - this.#measured.offset);
  }

  /** The time to tell the region. */
  tell(): number {
    this.#toldOffset = this.#offset();
    return this.#clock.now();
  }

  /** Somebody set the clock since the region was told. */
  wasSet(): boolean {
    return this.#toldOffset !== null && Math.abs(this.#offset() - this.#toldOffset) > STEP_MS;
  }

  #offset(): number {
    return this.#clock.now() - this.#clock.monotonic();
  }
}
