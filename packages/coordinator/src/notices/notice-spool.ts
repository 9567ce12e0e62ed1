import type { SourcedNotice } from "./notice-source.js";

/** What waits for one receiver: bounded, the oldest go first, and how many went is told. */
export class NoticeSpool {
  readonly #max: number;
  #waiting: SourcedNotice[] = [];
  #dropped = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get size(): number {
    return this.#waiting.length;
  }

  /** Dropped since the last {@link NoticeSpool.taken}. */
  get dropped(): number {
    return this.#dropped;
  }

  add(notices: readonly SourcedNotice[]): void {
    this.#waiting.push(...notices);
    const over = this.#waiting.length - this.#max;
    if (over <= 0) return;
    this.#waiting = this.#waiting.slice(over);
    this.#dropped += over;
  }

  /** The oldest ones; they stay until {@link NoticeSpool.taken}. */
  head(count: number): readonly SourcedNotice[] {
    return this.#waiting.slice(0, count);
  }

  /** These were delivered, and so many of those that went were told. What was dropped meanwhile is no longer there to remove. */
  taken(delivered: readonly SourcedNotice[], toldDropped: number): void {
    const gone = new Set(delivered);
    this.#waiting = this.#waiting.filter((waiting) => !gone.has(waiting));
    this.#dropped -= toldDropped;
  }

  /** The first number of the audit log that still waits; null when none does. */
  firstAuditNumber(): number | null {
    return this.#waiting.find(({ auditNumber }) => auditNumber > 0)?.auditNumber ?? null;
  }
}
