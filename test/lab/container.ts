import { mkdirSync, readFileSync, readdirSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import type { Host } from "./host.js";
import { programSource } from "./programs.js";
import { isAlive } from "./process-state.js";
import { requireTools } from "./require-tools.js";
import { runProgram, type Argv, type RunOptions, type RunResult } from "./run-program.js";
import type { Running } from "./running.js";
import { waitUntil } from "./wait-until.js";

/** A host of the lab on which systemd is the init: the machine's own root in an overlay, gone with the container. */
export class Container {
  readonly #launcher: Running;
  readonly #leader: number;
  readonly #name: string;

  private constructor(name: string, launcher: Running, leader: number) {
    this.#name = name;
    this.#launcher = launcher;
    this.#leader = leader;
  }

  /** Boots it on that host's network; the host's directory and these are seen inside under the same paths. */
  static async boot(host: Host, binds: readonly string[]): Promise<Container> {
    requireTools(["systemd-nspawn"]);
    const directory = host.path("container");
    mkdirSync(directory, { recursive: true });
    const name = host.namespace;
    const script = [programSource("boot-container.sh"), name, directory, host.namespace, host.directory, ...binds] as const;
    // Not by `ip netns exec`, which hides the control groups.
    const launcher = await host.spawnOutside(["unshare", "--mount", "--propagation", "private", "sh", ...script], {
      logFile: host.path("container.log"),
    });
    const leader = await waitUntil(() => childOf(launcher.pid), { describe: "the container's init runs" });
    const container = new Container(name, launcher, leader ?? 0);
    await waitUntil(async () => (await container.run(["systemctl", "is-system-running"])).stdout.trim(), {
      describe: "the container is up",
      deadlineMs: 60_000,
      until: (state) => state === "running" || state === "degraded",
    });
    return container;
  }

  /** The argv that runs a program in the container. */
  command(argv: Argv): Argv {
    return ["nsenter", "-t", String(this.#leader), "-m", "-u", "-i", "-n", "-p", "--", ...argv];
  }

  run(argv: Argv, options: RunOptions = {}): Promise<RunResult> {
    return runProgram(this.command(argv), options);
  }

  /** Powers it off. */
  async close(): Promise<void> {
    await runProgram(["kill", "-s", "RTMIN+4", String(this.#leader)]);
    await waitUntil(() => !isAlive(this.#launcher.pid), { describe: "the container is off", deadlineMs: 20_000 }).catch(() =>
      this.#launcher.stop({ signal: "SIGKILL" }),
    );
    for (const tree of ["systemd", "unified", ""]) removeTree(join("/sys/fs/cgroup", tree, this.#name));
  }
}

function childOf(pid: number): number | null {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
  const init = children.map(Number).find((child) => child > 0 && commOf(child) === "systemd");
  return init ?? null;
}

function commOf(pid: number): string {
  return readFileSync(`/proc/${pid}/comm`, "utf8").trim();
}

/** Control groups are removed as directories, children first; those of a kernel without that tree are not there. */
function removeTree(path: string): void {
  try {
    for (const entry of readdirSync(path, { withFileTypes: true })) if (entry.isDirectory()) removeTree(join(path, entry.name));
    rmdirSync(path);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "EBUSY"))) throw error;
  }
}
