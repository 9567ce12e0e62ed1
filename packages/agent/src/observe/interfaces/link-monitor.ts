import { describeError, EnvironmentError, type Clock, type Log } from "@berth/host";
import type { FollowPrograms } from "./follow-program.js";

export interface LinkMonitorPorts {
  readonly programs: FollowPrograms;
  readonly clock: Clock;
  readonly log: Log;
  /** Something changed: an address or a link (urgent), or a route. */
  nudge(urgent: boolean): void;
}

type Argv = readonly [string, ...string[]];

/** ip-monitor(8) prints text whatever the options say, so its lines only say when to look; stdbuf makes it print them at once. */
const MONITOR: Argv = ["ip", "monitor", "address", "link", "route"];
const UNBUFFERED: Argv = ["stdbuf", "-oL", ...MONITOR];

const BACKOFF_MIN_MS = 1000;
const BACKOFF_MAX_MS = 60_000;
/** A monitor that lived this long had no trouble starting. */
const HEALTHY_MS = 60_000;
/** ip monitor does not say when it listens; until then changes go unseen, so there is one more look after this long. */
const LISTENING_MS = 500;

/** `2: eth0    inet 10.0.0.5/32 scope global eth0`, with `Deleted ` before it when it went; routes begin with their destination. */
const ADDRESS_OR_LINK = /^(?:\[[^\]]*\]\s*)?(?:Deleted\s+)?\d+:\s/;
/** Second lines of a message. */
const CONTINUATION = /^\s/;

/** Keeps `ip monitor` running and nudges with what it prints. */
export function createLinkMonitor(ports: LinkMonitorPorts): { run(signal: AbortSignal): Promise<void> } {
  return { run: (signal) => runMonitor(ports, signal) };
}

async function runMonitor(ports: LinkMonitorPorts, signal: AbortSignal): Promise<void> {
  const { clock, log } = ports;
  let argv = UNBUFFERED;
  let backoffMs = BACKOFF_MIN_MS;
  for (;;) {
    const startedAt = clock.monotonic();
    try {
      await follow(ports, argv, signal);
      signal.throwIfAborted();
      log.warn("ip monitor ended; changes are seen by polling until it runs again");
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof EnvironmentError)) throw error;
      if (argv === UNBUFFERED && error.code === "command-not-found") {
        argv = MONITOR;
        continue;
      }
      log.warn({ code: error.code }, `ip monitor does not run; changes are seen by polling: ${describeError(error)}`);
    }
    backoffMs = clock.monotonic() - startedAt >= HEALTHY_MS ? BACKOFF_MIN_MS : Math.min(backoffMs * 2, BACKOFF_MAX_MS);
    await clock.sleep(backoffMs, signal);
  }
}

async function follow(ports: LinkMonitorPorts, argv: Argv, signal: AbortSignal): Promise<void> {
  const ended = new AbortController();
  const read = async (): Promise<void> => {
    try {
      for await (const line of ports.programs.lines(argv, signal)) {
        if (line !== "" && !CONTINUATION.test(line)) ports.nudge(ADDRESS_OR_LINK.test(line));
      }
    } finally {
      ended.abort();
    }
  };
  const lookOnceListening = async (): Promise<void> => {
    try {
      await ports.clock.sleep(LISTENING_MS, AbortSignal.any([signal, ended.signal]));
    } catch {
      return; // it ended before it listened
    }
    ports.nudge(true);
  };
  await Promise.all([read(), lookOnceListening()]);
}
