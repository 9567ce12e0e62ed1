import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { berthProgram, type Region } from "./berth-region.js";
import type { Host } from "./host.js";
import type { RunResult } from "./run-program.js";
import type { Running } from "./running.js";
import { waitUntil } from "./wait-until.js";

/** An agent on a host of the lab. Its dhcpd and named outlive it, as on a real rack; the lab ends them when it closes. */
export class Rack {
  readonly host: Host;
  readonly stateDir: string;
  readonly configFile: string;
  #running: Running | null = null;

  constructor(host: Host, config: Readonly<Record<string, unknown>> = {}) {
    this.host = host;
    this.stateDir = host.path("agent");
    this.configFile = host.path("agent.yaml");
    mkdirSync(this.stateDir, { recursive: true });
    const dhcpd = { program: host.unconfined("dhcpd") };
    const named = { program: host.unconfined("named") };
    writeFileSync(this.configFile, stringify({ state: this.stateDir, dhcpd, named, ...config }));
  }

  get pid(): number {
    return this.#running?.pid ?? 0;
  }

  get argv(): readonly [string, ...string[]] {
    return [berthProgram("berth-agent"), "run", "--config", this.configFile];
  }

  /** Uses a join line of the region once; the identity stays in the state folder. */
  async join(region: Region): Promise<void> {
    const { joinLine } = await region.berthJson<{ joinLine: string }>("token", "create", "--rack", this.host.name);
    const [, ...args] = joinLine.split(" ");
    const result = await this.agent(...args, "--state", this.stateDir);
    if (result.status !== 0) throw new Error(`join failed: ${result.stderr}`);
  }

  async start(): Promise<void> {
    this.#running = await this.host.spawn(this.argv, { logFile: this.host.path("agent.log") });
  }

  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    await this.#running?.stop({ signal, graceMs: 5_000 });
  }

  get isRunning(): boolean {
    return this.#running?.isRunning === true;
  }

  /** Runs `berth-agent` on the rack to its end, whatever its status. */
  agent(...args: string[]): Promise<RunResult> {
    return this.host.run([berthProgram("berth-agent"), ...args]);
  }

  /** Waits until all daemons run what the newest desired state says. */
  async waitUntilServing(options: { readonly deadlineMs?: number } = {}): Promise<RackStatus> {
    return waitUntil(() => this.status(), {
      describe: `${this.host.name} serves`,
      deadlineMs: options.deadlineMs ?? 30_000,
      until: (status) =>
        status !== null &&
        status.accepted > 0 &&
        status.daemons.some(({ name, state }) => name.startsWith("dhcpd") && state === "converged") &&
        // A rack that serves one family only has the other's dhcpd off.
        status.daemons.every(
          ({ state, generation }) => (state === "converged" || state === "off") && generation === status.accepted,
        ),
    }).then((status) => {
      if (status === null) throw new Error("waitUntil returned without a status");
      return status;
    });
  }

  /** What the running agent says of itself; null when none answers. */
  async status(): Promise<RackStatus | null> {
    const result = await this.agent("status", "--state", this.stateDir, "-o", "json");
    return result.stdout === "" ? null : (JSON.parse(result.stdout) as RackStatus);
  }

  path(...parts: string[]): string {
    return join(this.stateDir, ...parts);
  }
}

export interface RackStatus {
  readonly accepted: number;
  readonly daemons: readonly {
    readonly name: string;
    readonly state: string;
    readonly generation: number | null;
    readonly running: string | null;
    readonly problems: readonly { readonly code: string; readonly at: string; readonly message: string }[];
  }[];
  readonly problems: readonly { readonly code: string; readonly at: string; readonly message: string }[];
}
