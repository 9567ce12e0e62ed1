import { spawn, type ChildProcess } from "node:child_process";
import { appendFileSync } from "node:fs";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import type { Argv } from "./run-program.js";

export interface SpawnOptions {
  /** Everything it prints is appended here as well. */
  readonly logFile?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

export interface Exit {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Lines kept in memory for {@link Running.waitForLine}; the log file has all. */
const LINES_MAX = 20_000;

/** A program that runs beside the test, in a process group of its own: Ctrl-C at the terminal reaches the owner only, which then ends it in order. */
export class Running {
  readonly name: string;
  readonly pid: number;
  /** Settles when it has ended and all its output was read. */
  readonly exited: Promise<Exit>;
  readonly child: ChildProcess;
  readonly #lines: string[] = [];
  readonly #watchers = new Set<() => void>();
  #dropped = 0;
  #exit: Exit | null = null;

  private constructor(argv: Argv, child: ChildProcess, options: SpawnOptions) {
    this.name = argv.join(" ");
    this.pid = child.pid ?? 0;
    this.child = child;
    for (const stream of [child.stdout, child.stderr]) {
      if (stream !== null) this.#read(stream, options.logFile);
    }
    this.exited = new Promise((resolve) => {
      child.once("close", (status, signal) => {
        this.#exit = { status, signal };
        resolve(this.#exit);
        this.#wake();
      });
    });
  }

  /** Resolves when the program has been started, rejects when it could not be. */
  static async start(argv: Argv, options: SpawnOptions = {}): Promise<Running> {
    const [program, ...args] = argv;
    const child = spawn(program, args, {
      env: { ...process.env, ...options.env },
      cwd: options.cwd,
      stdio: ["pipe", "pipe", "pipe"],
      detached: true,
    });
    child.stdin.on("error", () => undefined); // it may end before it has read all: its exit tells
    const running = new Running(argv, child, options);
    await once(child, "spawn");
    return running;
  }

  get isRunning(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** What it printed so far, the last 20,000 lines of both streams. */
  get lines(): readonly string[] {
    return this.#lines;
  }

  /** Resolves with the first line, printed already or from now on, that matches; rejects at the deadline or when the program ends before. */
  waitForLine(pattern: RegExp | string, options: { readonly deadlineMs?: number } = {}): Promise<string> {
    const deadlineMs = options.deadlineMs ?? 15_000;
    const matches = (line: string): boolean => (typeof pattern === "string" ? line.includes(pattern) : pattern.test(line));
    return new Promise((resolve, reject) => {
      let seen = 0;
      const finish = (act: () => void): void => {
        clearTimeout(timer);
        this.#watchers.delete(look);
        act();
      };
      const fail = (why: string): void =>
        finish(() => reject(new Error(`${this.name}: ${why} before a line ${String(pattern)}; last lines:\n${this.tail()}`)));
      const look = (): void => {
        for (const line of this.#lines.slice(Math.max(0, seen - this.#dropped))) {
          if (matches(line)) {
            finish(() => resolve(line));
            return;
          }
        }
        seen = this.#dropped + this.#lines.length;
        if (this.#exit !== null) fail(`ended with ${this.#exit.status ?? this.#exit.signal}`);
      };
      const timer = setTimeout(() => fail(`${deadlineMs} ms passed`), deadlineMs);
      this.#watchers.add(look);
      look();
    });
  }

  /** Its last lines, for an error message. */
  tail(count = 20): string {
    return this.#lines.slice(-count).join("\n");
  }

  /** Sends the signal; false when it has ended already. */
  kill(signal: NodeJS.Signals = "SIGKILL"): boolean {
    return this.child.kill(signal);
  }

  /** SIGTERM, then SIGKILL when that is not enough; resolves when it is gone. */
  async stop(options: { readonly signal?: NodeJS.Signals; readonly graceMs?: number } = {}): Promise<Exit> {
    this.child.kill(options.signal ?? "SIGTERM");
    const timer = setTimeout(() => this.child.kill("SIGKILL"), options.graceMs ?? 5_000);
    // A child of its own may hold the pipes: what counts is that the program itself is gone.
    if (this.isRunning) await once(this.child, "exit");
    clearTimeout(timer);
    const grace = setTimeout(() => [this.child.stdout, this.child.stderr].forEach((s) => s?.destroy()), 500);
    const exit = await this.exited;
    clearTimeout(grace);
    return exit;
  }

  #read(stream: Readable, logFile: string | undefined): void {
    createInterface({ input: stream, crlfDelay: Infinity }).on("line", (line) => {
      if (logFile !== undefined) appendFileSync(logFile, `${line}\n`);
      this.#lines.push(line);
      if (this.#lines.length > LINES_MAX) {
        this.#lines.shift();
        this.#dropped++;
      }
      this.#wake();
    });
  }

  #wake(): void {
    for (const watcher of [...this.#watchers]) watcher();
  }
}
