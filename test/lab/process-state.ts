import { readFileSync } from "node:fs";

/** Whether this process still runs. A zombie does not: PID 1 of a container may take seconds to collect it, and kill(pid, 0) calls it alive. */
export function isAlive(pid: number): boolean {
  return startTimeOf(pid) !== null;
}

/** Clock ticks after boot, proc_pid_stat(5) field 22; null when the process has ended. With the pid it names one process for good. */
export function startTimeOf(pid: number): string | null {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return null; // gone, and collected
  }
  // The command name is in parentheses and may hold blanks; the state follows it as field 3.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return fields[0] === "Z" || fields[0] === "X" ? null : (fields[19] ?? null);
}
