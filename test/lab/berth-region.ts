import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Host } from "./host.js";
import { runProgram, type RunResult } from "./run-program.js";
import type { Running } from "./running.js";
import { waitUntil } from "./wait-until.js";

const ROOT = resolve(import.meta.dirname, "../..");

/** Port of the link between agents and coordinator in the lab. */
const LINK_PORT = 8421;

/** The command as an operator finds it after `npm ci && npm run build`. */
export function berthProgram(name: "berth" | "berth-agent" | "berth-coordinator"): string {
  return join(ROOT, "node_modules/.bin", name);
}

/** A coordinator on a host of the lab, and `berth` to talk to it: its API is a unix socket, which works across network namespaces. */
export class Region {
  readonly host: Host;
  readonly dataDir: string;
  /** What agents dial. */
  readonly linkAddress: string;
  #running: Running | null = null;

  constructor(host: Host, address: string) {
    this.host = host;
    this.dataDir = host.path("coordinator");
    this.linkAddress = `${address}:${LINK_PORT}`;
  }

  get pid(): number {
    return this.#running?.pid ?? 0;
  }

  get environment(): Record<string, string> {
    return { BERTH_URL: `unix:${join(this.dataDir, "api.sock")}`, BERTH_TOKEN_FILE: join(this.dataDir, "admin.token") };
  }

  /** The argv that serves this region, for whoever starts it otherwise. */
  get argv(): readonly [string, ...string[]] {
    return [berthProgram("berth-coordinator"), "serve", "--data", this.dataDir, "--link", this.linkAddress];
  }

  /** Starts the coordinator and waits until it is ready. */
  async start(): Promise<void> {
    this.#running = await this.host.spawn(this.argv, { logFile: this.host.path("coordinator.log") });
    await this.waitUntilReady();
  }

  async waitUntilReady(): Promise<void> {
    await waitUntil(
      async () => {
        if (this.#running?.isRunning === false)
          throw new Error(`the coordinator ended: ${this.#running.lines.slice(-5).join("; ")}`);
        return existsSync(join(this.dataDir, "admin.token")) ? await this.berth("status") : null;
      },
      { describe: "the coordinator answers", deadlineMs: 30_000, until: (answer) => answer?.status === 0 },
    );
  }

  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    await this.#running?.stop({ signal, graceMs: 5_000 });
  }

  /** Runs `berth` to its end, whatever its status. */
  berth(...args: string[]): Promise<RunResult> {
    return runProgram([berthProgram("berth"), ...args], { env: this.environment });
  }

  /** Runs `berth ... -o json`, which must succeed. */
  async berthJson<T = unknown>(...args: string[]): Promise<T> {
    const result = await this.berth(...args, "-o", "json");
    if (result.status !== 0) throw new Error(`berth ${args.join(" ")} ended with ${result.status}: ${result.stderr}`);
    return JSON.parse(result.stdout) as T;
  }
}
