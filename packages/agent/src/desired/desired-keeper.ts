import { acceptDesired, type DesiredDigests, type DesiredState, type Problem } from "@berth/core";
import { createBell, describeError, EnvironmentError, type Clock, type Files, type Log } from "@berth/host";
import { openDesiredFiles } from "./desired-files.js";

/** The desired state this rack acts on: on disk before anything acts on it, checksummed, so that a rack boots without a region. */
export interface DesiredKeeper {
  current(): DesiredState | null;
  /** Takes it if it is newer: it is on disk when this resolves. Null: accepted or held already; else why not, and the old one stays. */
  offer(state: DesiredState): Promise<Problem | null>;
  /** What was wrong with the files found at start, if anything. */
  problem(): Problem | null;
  /** Keeps `desired.json` whole and near the newest, until aborted. */
  run(signal: AbortSignal): Promise<void>;
}

export interface DesiredKeeperPorts {
  readonly files: Files;
  readonly clock: Clock;
  readonly log: Log;
  readonly digests: DesiredDigests;
  readonly stateDir: string;
  readonly rack: string;
  onAccepted(): void;
}

/** Writing it whole takes a while with 10,000 machines, so it waits until what was accepted is served. */
const FOLD_AFTER_MS = 30_000;
const NEVER_MS = 2 ** 31 - 1;

export async function openDesiredKeeper(ports: DesiredKeeperPorts): Promise<DesiredKeeper> {
  const found = await openDesiredFiles(ports);
  const bell = createBell(ports.clock);
  bell.ring();
  let held = found.state;
  let problem = found.problem;
  let writing: Promise<unknown> = Promise.resolve();

  /** One at a time: two offers at once must not both pass the check against the same held state. */
  function inTurn<T>(act: () => Promise<T>): Promise<T> {
    const turn = writing.then(act);
    writing = turn.catch(() => undefined);
    return turn;
  }

  async function take(state: DesiredState): Promise<Problem | null> {
    const acceptance = acceptDesired(ports.rack, held, state);
    if (acceptance.kind === "refused") return acceptance.problem;
    if (acceptance.kind === "same") return null;
    await found.files.keep(state);
    held = state;
    problem = null;
    ports.onAccepted();
    bell.ring();
    return null;
  }

  async function fold(): Promise<void> {
    try {
      await inTurn(() => found.files.fold());
    } catch (error) {
      if (!(error instanceof EnvironmentError)) throw error;
      ports.log.warn({ reason: describeError(error) }, "the desired state is not written whole; the change beside it holds");
      bell.ring();
    }
  }

  return {
    current: () => held,
    problem: () => problem,
    offer: (state) => inTurn(() => take(state)),
    async run(signal) {
      try {
        while (!signal.aborted) {
          await bell.wait(NEVER_MS, signal);
          await ports.clock.sleep(FOLD_AFTER_MS, signal);
          await fold();
        }
      } catch (reason) {
        if (!signal.aborted) throw reason;
      } finally {
        await fold();
      }
    },
  };
}
