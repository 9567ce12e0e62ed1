import { logOffset, readLogSince } from "../../reconcile/daemon-log.js";

export interface LogLines {
  readonly lines: readonly string[];
  /** Lines before these were not read: there were too many, or the log was emptied. */
  readonly isGap: boolean;
}

export interface LogReader {
  read(): Promise<LogLines>;
}

/** Reads what a daemon's log gained since the last time, whole lines only. The first time it only finds the end. */
export function createLogReader(path: string): LogReader {
  let offset: number | null = null;
  return {
    async read() {
      const size = await logOffset(path);
      if (offset === null) {
        offset = size;
        return { lines: [], isGap: false };
      }
      const isCut = size < offset;
      const from: number = isCut ? 0 : offset;
      const text = await readLogSince(path, from);
      const whole = text.slice(0, text.lastIndexOf("\n") + 1);
      const isSkipped = size - from > text.length;
      offset = isSkipped ? size : from + whole.length;
      return { lines: whole.split("\n").map((line) => line.trimEnd()), isGap: isCut || isSkipped };
    },
  };
}
