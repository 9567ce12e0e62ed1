import { readFile } from "node:fs/promises";
import { EnvironmentError, errnoOf } from "../errors.js";

/** Start time in clock ticks since boot, and whether the process leads its session. */
export interface ProcessState {
  readonly startTicks: number;
  readonly leader: boolean;
}

/**
 * Null when there is no such process or only its zombie (proc_pid_stat(5)). One whose first thread is a zombie and whose others still end is not gone: they
 * hold its sockets, and a dhcpd that is started at once finds its port taken (measured).
 */
export async function processState(pid: number): Promise<ProcessState | null> {
  const stat = await readProc(pid, "stat");
  if (stat === null) return null;
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const isLastThread = Number(fields[17]) <= 1;
  if (fields[0] === "X" || (fields[0] === "Z" && isLastThread)) return null;
  return { startTicks: Number(fields[19]), leader: Number(fields[3]) === pid };
}

/** Null when the process is gone or is not ours to read. */
export async function readProc(pid: number, entry: string): Promise<string | null> {
  try {
    return await readFile(`/proc/${pid}/${entry}`, "latin1");
  } catch (cause) {
    const errno = errnoOf(cause);
    if (errno === "ENOENT" || errno === "ESRCH" || errno === "EACCES" || errno === "EPERM") return null;
    throw new EnvironmentError("proc-unreadable", `/proc/${pid}/${entry}`, "failed to read the process table", { cause });
  }
}
