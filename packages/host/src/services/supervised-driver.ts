import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { kill } from "node:process";
import type { Clock } from "../clock.js";
import { EnvironmentError, errnoOf } from "../errors.js";
import type { ServiceDriver, ServiceInstance, ServiceSpec } from "./service-driver.js";

/** Marks our children in /proc/PID/environ: owner and name in one variable, what it was started with in the other. */
const OWNER = "BERTH_SERVICE";
const TAG = "BERTH_SERVICE_TAG";
const STOP_GRACE_MS = 3_000;
const STOP_POLL_MS = 10;

/**
 * Daemons as child processes in sessions of their own: they go on when the agent is killed. They are found again by a mark in their
 * environment, not by a pid file: a mark is there the instant the process is, and is gone when it is (a pid file is written too
 * late, left behind too long, and pids are reused).
 *
 * `owner` tells our daemons from those of another agent on this host: the state folder's path.
 */
export function createSupervisedDriver(owner: string, clock: Clock): ServiceDriver {
  return {
    async find(name) {
      const [newest] = (await findMarked(`${owner}\t${name}`)).sort((a, b) => b.startTicks - a.startTicks);
      return newest ?? null;
    },
    start: (spec, tag) => startDetached(spec, { [OWNER]: `${owner}\t${spec.name}`, [TAG]: tag }),
    async stop(name, graceMs = STOP_GRACE_MS) {
      const mark = `${owner}\t${name}`;
      const deadline = clock.monotonic() + graceMs;
      for (let instances = await findMarked(mark); instances.length > 0; instances = await stillRunning(instances)) {
        const signal = clock.monotonic() < deadline ? "SIGTERM" : "SIGKILL";
        for (const { pid } of instances) sendSignal(pid, signal);
        await clock.sleep(STOP_POLL_MS);
      }
    },
  };
}

async function startDetached(spec: ServiceSpec, marks: Record<string, string>): Promise<ServiceInstance> {
  const [program, ...args] = spec.argv;
  const log = openSync(spec.logFile, "a", 0o640);
  try {
    // A pipe would end with the agent and kill a daemon that logs; a file does not.
    const child = spawn(program, args, {
      detached: true,
      stdio: ["ignore", log, log],
      env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", ...marks },
    });
    await new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", (cause) => reject(startError(program, cause)));
    });
    child.unref();
    const pid = child.pid ?? 0;
    const state = await processState(pid);
    return { pid, startTicks: state?.startTicks ?? 0, tag: marks[TAG] ?? "" };
  } finally {
    closeSync(log);
  }
}

function startError(program: string, cause: Error): EnvironmentError {
  return errnoOf(cause) === "ENOENT"
    ? new EnvironmentError("command-not-found", program, `${program} is not installed`, {
        cause,
        remedy: `install the package that provides ${program}`,
      })
    : new EnvironmentError("command-failed-to-start", program, `failed to start ${program}`, { cause });
}

async function findMarked(mark: string): Promise<ServiceInstance[]> {
  const pids = (await readdir("/proc")).filter((entry) => /^\d+$/.test(entry)).map(Number);
  const found = await Promise.all(pids.map((pid) => readMarked(pid, mark)));
  return found.filter((instance) => instance !== null);
}

async function readMarked(pid: number, mark: string): Promise<ServiceInstance | null> {
  const environment = await readProc(pid, "environ");
  if (environment === null) return null;
  const variables = new Map(environment.split("\0").map((entry): [string, string] => splitOnce(entry)));
  if (variables.get(OWNER) !== mark) return null;
  const state = await processState(pid);
  return state === null ? null : { pid, startTicks: state.startTicks, tag: variables.get(TAG) ?? "" };
}

async function stillRunning(instances: readonly ServiceInstance[]): Promise<ServiceInstance[]> {
  const states = await Promise.all(instances.map(async (instance) => ({ instance, state: await processState(instance.pid) })));
  return states.filter(({ instance, state }) => state?.startTicks === instance.startTicks).map(({ instance }) => instance);
}

/** Start time in clock ticks since boot, or null when there is no such process or only its zombie (proc_pid_stat(5)). */
async function processState(pid: number): Promise<{ readonly startTicks: number } | null> {
  const stat = await readProc(pid, "stat");
  if (stat === null) return null;
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return fields[0] === "Z" || fields[0] === "X" ? null : { startTicks: Number(fields[19]) };
}

/** Null when the process is gone or is not ours to read. */
async function readProc(pid: number, entry: string): Promise<string | null> {
  try {
    return await readFile(`/proc/${pid}/${entry}`, "latin1");
  } catch (cause) {
    const errno = errnoOf(cause);
    if (errno === "ENOENT" || errno === "ESRCH" || errno === "EACCES" || errno === "EPERM") return null;
    throw new EnvironmentError("proc-unreadable", `/proc/${pid}/${entry}`, "failed to read the process table", { cause });
  }
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    kill(pid, signal);
  } catch (cause) {
    if (errnoOf(cause) !== "ESRCH")
      throw new EnvironmentError("signal-refused", `pid ${pid}`, `failed to send ${signal}`, { cause });
  }
}

function splitOnce(entry: string): [string, string] {
  const equals = entry.indexOf("=");
  return equals < 0 ? [entry, ""] : [entry.slice(0, equals), entry.slice(equals + 1)];
}
