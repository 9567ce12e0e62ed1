/** A long-running program that we start: always an argv array. */
export interface ServiceSpec {
  readonly name: string;
  readonly argv: readonly [string, ...string[]];
  /** Where its standard output and error are appended. */
  readonly logFile: string;
}

/** A running instance; (pid, startTicks) is never reused while the host is up. */
export interface ServiceInstance {
  readonly pid: number;
  readonly startTicks: number;
  /** What it was started with, as handed to `start`. */
  readonly tag: string;
}

/**
 * Starts and ends daemons. An instance outlives its starter: a driver made later finds it again, whatever ended the first one.
 */
export interface ServiceDriver {
  /** The running instance, or null. A zombie does not run. */
  find(name: string): Promise<ServiceInstance | null>;
  /** Starts it; the caller made sure that none runs. Throws `command-not-found`, `command-failed-to-start`. */
  start(spec: ServiceSpec, tag: string): Promise<ServiceInstance>;
  /** Ends every instance of that name: SIGTERM, then SIGKILL after `graceMs`. Resolves when none runs; none running is fine. */
  stop(name: string, graceMs?: number): Promise<void>;
}
