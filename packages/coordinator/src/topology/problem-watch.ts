import { isoTime, type CurrentProblem, type FoundProblem } from "@berth/core";
import type { Clock } from "@berth/host";

/** Remembers since when each problem stands. */
export interface ProblemWatch {
  /** All problems that hold now, each with the time since which it was there every time somebody looked. */
  list(): readonly CurrentProblem[];
  /** Looks now and then until aborted, so that problems have their time although nobody asks. */
  run(signal: AbortSignal): Promise<void>;
}

const PERIOD_MS = 2000;

/** `find` tells all problems of the moment; one is as old as the first look that saw it. */
export function createProblemWatch(find: () => readonly FoundProblem[], clock: Clock): ProblemWatch {
  let known = new Map<string, number>();
  const watch: ProblemWatch = {
    list() {
      const standing = new Map<string, number>();
      const problems = find().map((problem): CurrentProblem => {
        const key = JSON.stringify([problem.source, problem.rack, problem.daemon, problem.code, problem.at]);
        const since = known.get(key) ?? clock.now();
        standing.set(key, since);
        return { ...problem, since: isoTime(since) };
      });
      known = standing;
      return problems;
    },
    async run(signal) {
      while (!signal.aborted) {
        watch.list();
        await clock.sleep(PERIOD_MS, signal).catch((error: unknown) => {
          if (!signal.aborted) throw error; // an aborted sleep is what was asked for
        });
      }
    },
  };
  return watch;
}
