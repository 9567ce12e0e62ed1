import { activationSchema, rememberActivation, type Activation, type Problem } from "@berth/core";
import { EnvironmentError, parseJsonOrNull, type Clock, type Files, type Log } from "@berth/host";
import { z } from "zod";

/** What was tried with one daemon, kept on disk: the last of it survives whatever ended the agent. */
export interface ActivationHistory {
  /** Oldest first. */
  list(): readonly Activation[];
  /**
   * Runs an attempt and remembers it; its beginning too, so that one that is cut off is seen. A disk that takes no history never hinders an
   * activation.
   */
  record(
    what: Pick<Activation, "step" | "generation" | "desired" | "before">,
    act: () => Promise<Attempt>,
  ): Promise<Problem | null>;
}

/** How an attempt ended. */
export interface Attempt {
  readonly outcome: Activation["outcome"];
  readonly problem: Problem | null;
}

export interface ActivationHistoryPorts {
  readonly files: Files;
  readonly clock: Clock;
  readonly log: Log;
  readonly path: string;
}

const FILE_MAX = 4 * 1024 * 1024;
const historySchema = z.array(activationSchema);

/** A file that is torn or of another time counts as none: it is history, nothing depends on it. */
export async function openActivationHistory(ports: ActivationHistoryPorts): Promise<ActivationHistory> {
  const content = await ports.files.read(ports.path, FILE_MAX);
  const parsed = historySchema.safeParse(content === null ? [] : parseJsonOrNull(Buffer.from(content).toString("utf8")));
  let history: readonly Activation[] = parsed.success ? parsed.data : [];
  const remember = async (entry: Activation): Promise<void> => {
    history = rememberActivation(history, entry);
    try {
      await ports.files.replace(ports.path, JSON.stringify(history), 0o640);
    } catch (error) {
      if (!(error instanceof EnvironmentError)) throw error;
      ports.log.warn({ path: ports.path, cause: error.code }, "the history of activations is not kept");
    }
  };
  return {
    list: () => history,
    async record(what, act) {
      const entry = { ...what, at: new Date(ports.clock.now()).toISOString() };
      const begun = ports.clock.monotonic();
      await remember({ ...entry, outcome: "interrupted", tookMs: null, problem: null });
      const { outcome, problem } = await act();
      await remember({ ...entry, outcome, problem, tookMs: Math.round(ports.clock.monotonic() - begun) });
      return problem;
    },
  };
}
