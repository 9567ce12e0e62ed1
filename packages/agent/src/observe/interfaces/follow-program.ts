import { spawn, type ChildProcess } from "node:child_process";
import { startError } from "@berth/host";

/** Runs programs that go on printing. */
export interface FollowPrograms {
  /**
   * The lines of the program's standard output as they come; ends when the program does. The program is ended with the loop that reads, or by the
   * signal. Throws `command-not-found`, `command-failed-to-start`.
   */
  lines(argv: readonly [string, ...string[]], signal: AbortSignal): AsyncIterable<string>;
}

/** A line that grows longer than this is handed out in pieces: it is a nudge, not a fact. */
const LINE_MAX = 65_536;

export const systemFollowPrograms: FollowPrograms = {
  async *lines([program, ...args], signal) {
    signal.throwIfAborted();
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "ignore"] });
    const end = (): boolean => child.kill("SIGTERM");
    signal.addEventListener("abort", end, { once: true });
    try {
      await started(child, program);
      yield* splitLines(child);
    } finally {
      signal.removeEventListener("abort", end);
      end();
    }
  },
};

function started(child: ChildProcess, program: string): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once("spawn", resolve);
    child.on("error", (cause) => reject(startError(program, cause)));
  });
}

async function* splitLines({ stdout }: ChildProcess): AsyncIterable<string> {
  if (stdout === null) return;
  let rest = "";
  for await (const chunk of stdout.setEncoding("utf8")) {
    const lines = (rest + String(chunk)).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > LINE_MAX) lines.push(rest.slice(0, LINE_MAX));
    if (rest.length > LINE_MAX) rest = "";
    yield* lines;
  }
}
