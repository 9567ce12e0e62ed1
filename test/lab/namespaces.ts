import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { startTimeOf } from "./process-state.js";
import { runOrThrow } from "./run-program.js";

/** Where iproute2 binds named network namespaces, ip-netns(8). */
const NAMESPACE_DIRECTORY = "/run/netns";

/** Runs several lines of ip(8) inside a namespace in one go; the first that fails is the error. */
export async function ipBatch(namespace: string, lines: readonly string[]): Promise<void> {
  await runOrThrow(["ip", "-n", namespace, "-batch", "-"], { input: lines.map((line) => `${line}\n`).join("") });
}

/** The names of all network namespaces of this machine. */
export function listNamespaces(): string[] {
  try {
    return readdirSync(NAMESPACE_DIRECTORY).sort();
  } catch (error) {
    if (isMissing(error)) return []; // no namespace was ever made
    throw error;
  }
}

/** The processes that live in these namespaces. One pass over /proc, synchronous so that it works while the owner exits. */
export function processesIn(namespaces: readonly string[]): number[] {
  const wanted = new Set(namespaces.map(inodeOf).filter((inode) => inode !== null));
  if (wanted.size === 0) return [];
  return readdirSync("/proc")
    .filter((name) => /^[0-9]+$/.test(name) && wanted.has(namespaceOf(name) ?? ""))
    .map(Number);
}

/** Processes whose environment has this `NAME=value`: also those that have not entered their namespace yet. */
export function processesMarked(mark: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^[0-9]+$/.test(name) && environmentOf(name).includes(mark))
    .map(Number);
}

/** Ends every process in these namespaces or with that mark, and removes the namespaces; those that are gone already are fine. */
export function destroyNamespaces(namespaces: readonly string[], mark: string): void {
  const end = performance.now() + 10_000;
  // One that is exiting leaves its namespace a moment before it is gone.
  const struck = new Map<number, string | null>();
  for (;;) {
    const pids = [...new Set([...processesIn(namespaces), ...processesMarked(mark)])];
    const exiting = [...struck].filter(([pid, startTime]) => startTime !== null && startTimeOf(pid) === startTime);
    if (pids.length === 0 && exiting.length === 0) break;
    if (performance.now() > end) throw new Error(`processes ${pids.join(", ")} survive SIGKILL in ${namespaces.join(", ")}`);
    for (const pid of pids) {
      struck.set(pid, startTimeOf(pid));
      killIfThere(pid);
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
  }
  const there = new Set(listNamespaces());
  const input = namespaces.filter((name) => there.has(name)).map((name) => `netns del ${name}\n`);
  if (input.length === 0) return;
  const { status, stderr } = spawnSync("ip", ["-force", "-batch", "-"], { input: input.join(""), encoding: "utf8" });
  const left = listNamespaces().filter((name) => namespaces.includes(name));
  if (left.length > 0) throw new Error(`failed to remove ${left.join(", ")} (ip ended with ${status}): ${stderr}`);
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}

/** The key of a namespace as /proc shows it: `net:[4026532008]`. */
function inodeOf(namespace: string): string | null {
  try {
    return `net:[${statSync(`${NAMESPACE_DIRECTORY}/${namespace}`).ino}]`;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

function environmentOf(pid: string): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
  } catch {
    return []; // ended meanwhile
  }
}

function namespaceOf(pid: string): string | null {
  try {
    return readlinkSync(`/proc/${pid}/ns/net`);
  } catch {
    return null; // ended meanwhile, or a zombie that waits for its parent
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
