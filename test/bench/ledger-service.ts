import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** What one tick of `/proc/PID/stat` is: USER_HZ, 100 a second on every Linux. */
const TICK_US = 10_000;

/** A server program of this folder in a process of its own, ready to be called. */
export class Service {
  readonly url: string;
  readonly #process: ChildProcess;

  private constructor(child: ChildProcess, url: string) {
    this.#process = child;
    this.url = url;
  }

  /** Resolves when it has told its URL. */
  static async start(program: string, ...args: readonly string[]): Promise<Service> {
    const command = ["--import", "tsx", fileURLToPath(new URL(program, import.meta.url)), ...args];
    const child = spawn(process.execPath, command, { stdio: ["ignore", "pipe", "inherit"] });
    return new Service(child, await firstLine(child));
  }

  /** Processor time that it has taken so far, its own and the kernel's for it, in microseconds. */
  cpu(): number {
    const [, rest = ""] = readFileSync(`/proc/${this.#process.pid}/stat`, "utf8").split(") ");
    const fields = rest.split(" "); // proc_pid_stat(5): utime is field 14, stime 15, the first of these 3
    return (Number(fields[11]) + Number(fields[12])) * TICK_US;
  }

  async end(): Promise<void> {
    if (this.#process.exitCode !== null) return;
    this.#process.kill("SIGTERM");
    await once(this.#process, "exit");
  }
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    child.stdout?.on("data", (chunk: Buffer) => {
      text += chunk.toString("utf8");
      const end = text.indexOf("\n");
      if (end >= 0) resolve(text.slice(0, end));
    });
    child.once("exit", (code) => reject(new Error(`the server ended with ${code}`)));
  });
}
