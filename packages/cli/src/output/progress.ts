import type { TextSink } from "../cli-ports.js";

const PERIOD_MS = 1000;
const ERASE_LINE = "\r\u001b[K";

/** Says on a terminal, once a second, what is waited for and how long already; says nothing elsewhere, and leaves no trace. */
export async function withProgress<T>(sink: TextSink, doing: string, work: Promise<T>): Promise<T> {
  if (!sink.isTerminal) return work;
  let seconds = 0;
  const timer = setInterval(() => {
    seconds += PERIOD_MS / 1000;
    sink.write(`${ERASE_LINE}${doing} ... ${seconds} s`);
  }, PERIOD_MS);
  try {
    return await work;
  } finally {
    clearInterval(timer);
    if (seconds > 0) sink.write(ERASE_LINE);
  }
}
