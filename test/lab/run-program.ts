import { spawn } from "node:child_process";

export type Argv = readonly [string, ...string[]];

export interface RunOptions {
  /** Kills the program after this long; 20 s unless told. */
  readonly timeoutMs?: number;
  readonly input?: string;
  /** Added to this process's environment. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

export interface RunResult {
  /** Exit status, or null when a signal ended it. */
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly timedOut: boolean;
}

/** Runs a program to its end, whatever its status. Rejects only when it cannot be started. */
export function runProgram(argv: Argv, options: RunOptions = {}): Promise<RunResult> {
  const [program, ...args] = argv;
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env: { ...process.env, ...options.env }, cwd: options.cwd });
    let stdout = "";
    let stderr = "";
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      child.kill("SIGKILL");
    }, options.timeoutMs ?? 20_000);
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    child.stdin.on("error", () => undefined); // a program that reads no input is no failure
    child.stdin.end(options.input ?? "");
    child.on("error", (cause) => {
      clearTimeout(timer);
      reject(new Error(`failed to start ${argv.join(" ")}`, { cause }));
    });
    child.on("exit", () => {
      clearTimeout(timer);
      // A daemon it left behind may hold the pipes for ever.
      setTimeout(() => {
        child.stdout.destroy();
        child.stderr.destroy();
      }, 500).unref();
    });
    child.on("close", (status, signal) => resolve({ status, signal, stdout, stderr, timedOut }));
  });
}

/** Runs a program that must succeed and returns what it printed. */
export async function runOrThrow(argv: Argv, options: RunOptions = {}): Promise<string> {
  const result = await runProgram(argv, options);
  if (result.status !== 0) {
    const how = result.timedOut ? "timed out" : `ended with ${result.status ?? result.signal}`;
    throw new Error(`${argv.join(" ")} ${how}: ${(result.stderr || result.stdout).trim()}`);
  }
  return result.stdout;
}
