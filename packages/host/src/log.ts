import { pino, type Logger } from "pino";

export type Log = Pick<Logger, "debug" | "info" | "warn" | "error" | "fatal" | "child">;

/** pino's levels as syslog priorities, for the journal's `<N>` prefix (sd-daemon(3)). */
const PRIORITY: readonly (readonly [number, number])[] = [
  [60, 2],
  [50, 3],
  [40, 4],
  [30, 6],
  [0, 7],
];

/** Structured log to standard error, one JSON object a line; with a priority prefix when the journal reads it. */
export function createLog(options: {
  readonly level?: string;
  readonly journal?: boolean;
  readonly write: (line: string) => void;
}): Log {
  const stream = {
    [Symbol.for("pino.metadata")]: true,
    lastLevel: 30,
    write(line: string): void {
      const priority = PRIORITY.find(([level]) => this.lastLevel >= level)?.[1] ?? 6;
      options.write(options.journal === true ? `<${priority}>${line}` : line);
    },
  };
  return pino({ level: options.level ?? "info", base: null }, stream);
}

/** For tests and for commands that have nothing to log. */
export const silentLog: Log = pino({ level: "silent" });
