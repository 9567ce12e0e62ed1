import {
  noteDhcpdLog,
  PoolCount,
  poolProblems,
  servedPools,
  shortPools,
  unservedProblems,
  type PoolUse,
  type Problem,
  type ServedPool,
  type UnservedClient,
} from "@berth/core";
import { EnvironmentError, type Clock, type Log } from "@berth/host";
import type { Attachment } from "../../attachment.js";
import { failureProblem } from "../../reconcile/daemon-status.js";
import type { LeaseFollower } from "../leases/model.js";
import type { LogReader } from "./log-reader.js";

/** Counts how full the pools of this rack are, and finds machines that ask and get no lease. */
export interface PoolWatch {
  /** Resolves when aborted. */
  run(signal: AbortSignal): Promise<void>;
  problems(): readonly Problem[];
  /** Called when the problems changed. */
  onChange(listener: () => void): void;
}

export interface PoolWatchPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly attach: Attachment;
  /** Of all servers. */
  readonly leases: readonly Pick<LeaseFollower, "pages" | "onChange">[];
  readonly dhcpdLog: LogReader;
  /** Between two rounds; 0 for never. */
  readonly periodMs: number;
}

/** Leases counted without a pause. */
const PAGE = 4096;
/** A client that asks for so many rounds without a lease is reported. */
const GRACE_ROUNDS = 2;

export function createPoolWatch(ports: PoolWatchPorts): PoolWatch {
  const { clock, attach, leases, dhcpdLog, periodMs } = ports;
  const poolsNow = createPoolsNow(attach);
  let listener = (): void => undefined;
  let uses: readonly PoolUse[] = [];
  let short: ReadonlySet<number> = new Set();
  let clients: readonly UnservedClient[] = [];
  let counted: readonly ServedPool[] | null = null;
  let problems: readonly Problem[] = [];

  async function look(signal: AbortSignal): Promise<readonly Problem[]> {
    const pools = poolsNow();
    if (counted !== pools) {
      counted = pools;
      uses = pools.length === 0 ? [] : await count(pools, ports, signal);
    }
    const { lines, isGap } = await dhcpdLog.read();
    // What is missing may have served somebody, but a storm of the turned away, which makes the gaps, must not end its own alarm.
    const known = isGap ? clients.filter(({ turnedAway }) => turnedAway) : clients;
    clients = uses.length === 0 ? [] : noteDhcpdLog(known, lines, clock.now());
    short = shortPools(uses, short);
    return [...poolProblems(uses, short), ...unservedProblems(clients, uses, GRACE_ROUNDS * periodMs)];
  }

  async function round(signal: AbortSignal): Promise<void> {
    const found = await look(signal).catch((error: unknown) => {
      signal.throwIfAborted();
      if (!(error instanceof EnvironmentError)) throw error;
      return [failureProblem(error)];
    });
    if (JSON.stringify(found) === JSON.stringify(problems)) return;
    problems = found;
    if (found.length > 0) ports.log.warn({ problems }, "pools are short, or machines get no lease");
    else ports.log.info("pools have room again, and nobody waits for a lease");
    listener();
  }

  return {
    problems: () => problems,
    onChange: (changed) => void (listener = changed),
    async run(signal) {
      if (periodMs === 0) return;
      const stops = leases.map((follower) => follower.onChange(() => void (counted = null)));
      try {
        for (;;) {
          await clock.sleep(periodMs, signal);
          await round(signal);
        }
      } catch (error) {
        if (!signal.aborted) throw error;
      } finally {
        for (const stop of stops) stop();
      }
    },
  };
}

/** The same pools, as a value, for the same desired state at the same place. */
function createPoolsNow(attach: Attachment): () => readonly ServedPool[] {
  let last: { readonly desired: unknown; readonly attached: unknown; readonly pools: readonly ServedPool[] } | null = null;
  return () => {
    const [desired, attached] = [attach.desired(), attach.now()];
    if (last?.desired !== desired || last.attached !== attached) {
      const pools = desired === null || attached === null ? [] : servedPools(desired, attached.local);
      last = { desired, attached, pools };
    }
    return last.pools;
  };
}

async function count(
  pools: readonly ServedPool[],
  { leases, clock }: PoolWatchPorts,
  signal: AbortSignal,
): Promise<readonly PoolUse[]> {
  const total = new PoolCount(pools);
  for (const pages of leases.map((follower) => follower.pages()))
    for (let from = 0; from < pages.length; from += PAGE) {
      if (from > 0) await clock.sleep(1, signal); // others have their turn
      for (const lease of pages.slice(from, from + PAGE)) total.add(lease);
    }
  return total.uses();
}
