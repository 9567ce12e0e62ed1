import {
  BASE_MISSING,
  patchDesired,
  shareParts,
  type DesiredChange,
  type DesiredDigests,
  type DesiredState,
  type Problem,
} from "@berth/core";
import { describeError, type Clock, type Log } from "@berth/host";

export interface DesiredIntakeOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** What this rack holds now. */
  readonly held: () => DesiredState | null;
  readonly digests: DesiredDigests;
  /** On the disk when it resolves with null; a problem is why it was refused. */
  readonly take: (state: DesiredState) => Promise<Problem | null>;
  /** What became of it, for the region. */
  readonly answer: (generation: number, problem: Problem | null) => void;
}

/** A disk that was full may have room again by then. */
const AGAIN_MS = 5_000;

/** Takes the newest desired state that arrived: one at a time, again after a while when this host failed to keep it, never an older one meanwhile. */
export class DesiredIntake {
  readonly #options: DesiredIntakeOptions;
  #waiting: DesiredState | null = null;
  #notBefore = 0;
  #beingTaken: DesiredState | null = null;
  #taking: Promise<void> | null = null;

  constructor(options: DesiredIntakeOptions) {
    this.#options = options;
  }

  offer(state: DesiredState): void {
    this.#waiting = shareParts(this.#known()[0] ?? null, state);
    this.#notBefore = 0;
    this.work();
  }

  /** The next state as what it changes of one that is known here; any other is answered with {@link BASE_MISSING}, and the region sends it whole. */
  offerChange(change: DesiredChange): void {
    const { digests, answer, log } = this.#options;
    const { base } = change;
    const from = this.#known().find((state) => state.generation === base.generation && digests.of(state) === base.digest);
    const state = from === undefined ? null : patchDesired(from, change);
    if (state !== null && digests.of(state) === change.digest) {
      this.offer(state);
      return;
    }
    const { generation } = change.rest;
    const message =
      from === undefined ? `generation ${base.generation} is not held here as the region has it` : "it leads to another state";
    log.info({ generation, base: base.generation, reason: message }, "a desired state is asked for whole");
    answer(generation, { code: BASE_MISSING, at: `generation ${generation}`, message });
  }

  /** Called now and then: begins what waits. */
  work(): void {
    const { clock } = this.#options;
    const state = this.#waiting;
    if (state === null || this.#taking !== null || clock.monotonic() < this.#notBefore) return;
    this.#waiting = null;
    this.#beingTaken = state;
    this.#taking = this.#take(state).finally(() => {
      this.#taking = this.#beingTaken = null;
      this.work();
    });
  }

  /** Newest first. */
  #known(): readonly DesiredState[] {
    return [this.#waiting, this.#beingTaken, this.#options.held()].filter((state) => state !== null);
  }

  /** Resolves when nothing is being written. */
  async settled(): Promise<void> {
    await this.#taking;
  }

  async #take(state: DesiredState): Promise<void> {
    const { clock, log, take, answer } = this.#options;
    const { generation } = state;
    try {
      const problem = await take(state);
      if (problem !== null) log.error({ generation, problem }, "desired state refused");
      answer(generation, problem);
    } catch (error) {
      log.error({ generation, reason: describeError(error) }, "failed to keep the desired state; trying again");
      this.#waiting ??= state;
      this.#notBefore = clock.monotonic() + AGAIN_MS;
    }
  }
}
