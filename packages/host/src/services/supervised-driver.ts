import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { kill } from "node:process";
import type { Clock } from "../clock.js";
import { EnvironmentError, errnoOf } from "../errors.js";
import { processState, readProc } from "./process-state.js";
import type { ServiceDriver, ServiceInstance, ServiceSpec } from "./service-driver.js";
import { startError } from "../start-error.js";

/** Marks our children in /proc/PID/environ: owner and name in one variable, what it was started with in the other. */
const OWNER = "BERTH_SERVICE";
const TAG = "BERTH_SERVICE_TAG";
const STOP_GRACE_MS = 3_000;
const STOP_POLL_MS = 2;
/** What another agent on this state folder started just before it was killed shows itself within this time. */
const SETTLED_MS = 10_000;
/** From then on only we start it, so that it was not there holds until we do; the process table is read again this often all the same. */
const LOOK_AGAIN_MS = 30_000;

/**
 * Daemons as child processes in sessions of their own: they go on when the agent is killed. They are found again by a mark in their
 * environment, not by a pid file: a mark is there the instant the process is, and is gone when it is (a pid file is written too
 * late, left behind too long, and pids are reused).
 *
 * `owner` tells our daemons from those of another agent on this host: the state folder's path.
 */
export function createSupervisedDriver(owner: string, clock: Clock): ServiceDriver {
  // While the one we know lives, a look costs one small read instead of the whole process table.
  const known = new Map<string, ServiceInstance>();
  // Reading the environment of every process of a busy host costs some tenth of a second.
  const missedAt = new Map<string, number>();
  const createdAt = clock.monotonic();
  const isMissing = (name: string, now: number): boolean =>
    now - createdAt > SETTLED_MS && now - (missedAt.get(name) ?? -Infinity) < LOOK_AGAIN_MS;
  return {
    async find(name) {
      const before = known.get(name);
      if (before !== undefined && (await processState(before.pid))?.startTicks === before.startTicks) return before;
      known.delete(name);
      const now = clock.monotonic();
      if (isMissing(name, now)) return null;
      // Children of a daemon inherit its mark; the daemon itself leads the session that we started it in.
      const leaders = (await findMarked(`${owner}\t${name}`)).filter(({ leader }) => leader);
      const newest = leaders.sort((a, b) => b.startTicks - a.startTicks)[0];
      if (newest === undefined) {
        missedAt.set(name, now);
        return null;
      }
      const found = { pid: newest.pid, startTicks: newest.startTicks, tag: newest.tag };
      known.set(name, found);
      return found;
    },
    async start(spec, tag) {
      missedAt.delete(spec.name);
      const started = await startDetached(spec, { [OWNER]: `${owner}\t${spec.name}`, [TAG]: tag });
      known.set(spec.name, started);
      return started;
    },
    async stop(name, graceMs = STOP_GRACE_MS) {
      const mark = `${owner}\t${name}`;
      const deadline = clock.monotonic() + graceMs;
      const told = new Set<number>();
      const end = (pid: number): void => {
        const isLate = clock.monotonic() >= deadline;
        if (isLate || !told.has(pid)) sendSignal(pid, isLate ? "SIGKILL" : "SIGTERM");
        told.add(pid);
      };
      // The one we know ends while the process table is looked through for others.
      const first = known.get(name);
      known.delete(name);
      if (first !== undefined && (await processState(first.pid))?.startTicks === first.startTicks) end(first.pid);
      const looked = new Set<number>();
      for (let instances = await findMarked(mark, looked); instances.length > 0; ) {
        for (const { pid } of instances) end(pid);
        await clock.sleep(STOP_POLL_MS);
        instances = await stillMarked(instances, mark, looked);
      }
    },
  };
}

async function startDetached(spec: ServiceSpec, marks: Record<string, string>): Promise<ServiceInstance> {
  const [program, ...args] = spec.argv;
  const log = openLog(spec.logFile);
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

function openLog(path: string): number {
  try {
    return openSync(path, "a", 0o640);
  } catch (cause) {
    const remedy = "check that the folder is there and writable";
    throw new EnvironmentError("log-unwritable", path, `failed to open the log ${path}`, { cause, remedy });
  }
}

interface MarkedProcess extends ServiceInstance {
  readonly leader: boolean;
}

/** `looked` are processes that need no second look, and is added to: who had no mark never gets one. */
async function findMarked(mark: string, looked = new Set<number>()): Promise<MarkedProcess[]> {
  const pids = (await readdir("/proc")).filter((entry) => /^\d+$/.test(entry)).map(Number);
  const found = await Promise.all(pids.filter((pid) => !looked.has(pid)).map((pid) => readMarked(pid, mark)));
  for (const pid of pids) looked.add(pid);
  const marked = found.filter((instance) => instance !== null);
  for (const { pid } of marked) looked.delete(pid);
  return marked;
}

async function readMarked(pid: number, mark: string): Promise<MarkedProcess | null> {
  const environment = await readProc(pid, "environ");
  if (environment === null) return null;
  const variables = new Map(environment.split("\0").map((entry): [string, string] => splitOnce(entry)));
  if (variables.get(OWNER) !== mark) return null;
  const state = await processState(pid);
  return state === null ? null : { pid, ...state, tag: variables.get(TAG) ?? "" };
}

/** Cheap while the known ones live; when they are gone, one more look at the others finds what they started meanwhile. */
async function stillMarked(instances: readonly MarkedProcess[], mark: string, looked: Set<number>): Promise<MarkedProcess[]> {
  const states = await Promise.all(instances.map(({ pid }) => processState(pid)));
  const living = instances.filter(({ startTicks }, i) => states[i]?.startTicks === startTicks);
  return living.length > 0 ? living : findMarked(mark, looked);
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
