import type { DesiredState, Problem } from "@berth/core";
import { describeError, type Clock, type Log } from "@berth/host";

export interface DesiredIntakeOptions {
  readonly clock: Clock;
  readonly log: Log;
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
  #taking: Promise<void> | null = null;

  constructor(options: DesiredIntakeOptions) {
    this.#options = options;
  }

  offer(state: DesiredState): void {
    this.#waiting = state;
    this.#notBefore = 0;
    this.work();
  }

  /** Called now and then: begins what waits. */
  work(): void {
    const { clock } = this.#options;
    const state = this.#waiting;
    if (state === null || this.#taking !== null || clock.monotonic() < this.#notBefore) return;
    this.#waiting = null;
    this.#taking = this.#take(state).finally(() => {
      this.#taking = null;
      this.work();
    });
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
