import { spawn, type ChildProcess } from "node:child_process";
import { kill } from "node:process";
import { EnvironmentError, errnoOf } from "./errors.js";
import { startError } from "./start-error.js";

export interface CommandResult {
  /** Exit status, or null when a signal ended it. */
  readonly status: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandOptions {
  readonly timeoutMs?: number;
  readonly input?: string;
  readonly signal?: AbortSignal;
  /** Octets kept of each stream; more is an error `command-output-too-large`. */
  readonly outputMax?: number;
}

/** Runs programs: always an argv array, never a shell. */
export interface Commands {
  /**
   * Runs to the end and answers whatever the exit status is. Throws {@link EnvironmentError}: `command-not-found`, `command-timeout`
   * (the program and its children are killed), `command-output-too-large`, `command-failed-to-start`.
   */
  run(argv: readonly [string, ...string[]], options?: CommandOptions): Promise<CommandResult>;
}

const TIMEOUT_MS = 30_000;
const OUTPUT_MAX = 16 * 1024 * 1024;

export const systemCommands: Commands = {
  run: (argv, options = {}) => new Promise((resolve, reject) => runProgram(argv, options, resolve, reject)),
};

function runProgram(
  argv: readonly [string, ...string[]],
  options: CommandOptions,
  resolve: (result: CommandResult) => void,
  reject: (error: unknown) => void,
): void {
  const [program, ...args] = argv;
  if (options.signal?.aborted === true) {
    reject(options.signal.reason);
    return;
  }
  const outputMax = options.outputMax ?? OUTPUT_MAX;
  const child = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"], detached: true });
  let failure: Error | null = null;
  const fail = (error: Error): void => {
    failure ??= error;
    killGroup(child);
  };
  const timer = setTimeout(
    () =>
      fail(
        new EnvironmentError("command-timeout", program, `${program} did not end within ${options.timeoutMs ?? TIMEOUT_MS} ms`),
      ),
    options.timeoutMs ?? TIMEOUT_MS,
  );
  const onAbort = (): void => fail(options.signal?.reason as Error);
  options.signal?.addEventListener("abort", onAbort, { once: true });
  const stdout = collect(child.stdout, outputMax, () => fail(tooLarge(program, outputMax)));
  const stderr = collect(child.stderr, outputMax, () => fail(tooLarge(program, outputMax)));
  child.stdin.on("error", () => undefined); // a program that does not read its input is no failure: its status tells
  child.stdin.end(options.input ?? "");
  child.on("error", (error) => {
    failure ??= startError(program, error);
  });
  child.on("close", (status, signal) => {
    clearTimeout(timer);
    options.signal?.removeEventListener("abort", onAbort);
    if (failure !== null) reject(failure);
    else resolve({ status, signal, stdout: stdout(), stderr: stderr() });
  });
}

/** A program's own children go with it: they hold its output open, and would outlive what was given up. */
function killGroup(child: ChildProcess): void {
  child.stdout?.destroy();
  child.stderr?.destroy();
  if (child.pid === undefined) return; // it never started
  try {
    kill(-child.pid, "SIGKILL");
  } catch (error) {
    if (errnoOf(error) !== "ESRCH") throw error; // the whole group has ended by itself
  }
}

function collect(stream: NodeJS.ReadableStream, max: number, overflow: () => void): () => string {
  const chunks: Buffer[] = [];
  let size = 0;
  stream.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size > max) overflow();
    else chunks.push(chunk);
  });
  return () => Buffer.concat(chunks).toString("utf8");
}

function tooLarge(program: string, max: number): EnvironmentError {
  return new EnvironmentError("command-output-too-large", program, `${program} printed more than ${max} octets`);
}
