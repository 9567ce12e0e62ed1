import type { Clock } from "@berth/host";

/** Others hear of a commit at most so much later; each notification wakes all of them, and a process of the server for each. */
const TELL_MS = 50;

/** Decides which commits tell the others of themselves: not each of many, but soon after the last of them somebody does. */
export class CommitTeller {
  readonly #clock: Clock;
  readonly #tell: (revision: number) => Promise<void>;
  readonly #ended = new AbortController();
  #toldAt = Number.NEGATIVE_INFINITY;
  /** The newest commit that nobody was told of. */
  #owed: number | null = null;

  /** `tell` is called for commits that did not; what it rejects with is lost, and others find the commit by looking. */
  constructor(clock: Clock, tell: (revision: number) => Promise<void>) {
    this.#clock = clock;
    this.#tell = tell;
  }

  /** Whether the next commit shall tell of itself. */
  isDue(): boolean {
    return this.#clock.monotonic() - this.#toldAt >= TELL_MS;
  }

  committed(revision: number, hasTold: boolean): void {
    if (hasTold) {
      this.#toldAt = this.#clock.monotonic();
      this.#owed = null;
      return;
    }
    const waits = this.#owed !== null;
    this.#owed = revision;
    if (!waits) this.#tellLater().catch(() => undefined); // closed, or no server: they look by themselves
  }

  /** Nothing is told any more. */
  end(): void {
    this.#ended.abort();
  }

  async #tellLater(): Promise<void> {
    await this.#clock.sleep(TELL_MS, this.#ended.signal);
    const revision = this.#owed;
    if (revision === null) return;
    this.committed(revision, true);
    await this.#tell(revision);
  }
}
