import {
  confirmedNeighbors,
  prefixContains,
  WireBook,
  type IpAddress,
  type IpPrefix,
  type Neighbor,
  type Problem,
  type WireAnswer,
} from "@berth/core";
import { createBell, describeError, EnvironmentError, type Clock, type Log } from "@berth/host";
import { BATCH, type WireProber, type WireTarget } from "./wire-prober.js";

/** A network of this rack: where it is and what the rack's own address there is. */
export interface WireLink {
  readonly interfaceName: string;
  readonly prefix: IpPrefix;
  readonly address: IpAddress;
}

/** Looks who answers on the rack's wires: it probes what the region wants to know, and passes on whom the kernel talks to anyway. */
export interface WireWatch {
  run(signal: AbortSignal): Promise<void>;
  /** What the region wants probed from now on, most urgent first. */
  want(addresses: readonly IpAddress[]): void;
  /** Everything it remembers. */
  all(): readonly WireAnswer[];
  /** Why it cannot look; null when it can. */
  problem(): Problem | null;
}

export interface WireWatchPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly links: () => readonly WireLink[];
  readonly prober: WireProber;
  readonly neighbors: (signal: AbortSignal) => Promise<readonly Neighbor[]>;
  /** Tells the region what is news. */
  readonly report: (answers: readonly WireAnswer[]) => void;
  readonly onChange: () => void;
}

/** An address that is wanted is probed again after this long. */
export const PROBE_AGAIN_MS = 300_000;
const NEIGHBORS_MS = 60_000;
const RETRY_MS = 5_000;
/** Between two batches: what machines say to each other comes first. */
const PAUSE_MS = 200;

export function createWireWatch(ports: WireWatchPorts): WireWatch {
  const { clock, log, prober } = ports;
  const bell = createBell(clock);
  const book = new WireBook();
  let wanted: readonly IpAddress[] = [];
  let problem: Problem | null = null;
  let neighborsAt: number | null = null;

  function note(answers: readonly WireAnswer[]): void {
    const news = book.note(answers);
    if (news.length > 0) ports.report(news);
  }

  /** Never probed ones first and as the region has them, then those whose answer is oldest. */
  function due(): readonly WireTarget[] {
    const links = ports.links();
    const now = clock.now();
    const targets = wanted.flatMap((address) => {
      const link = links.find(({ prefix }) => prefixContains(prefix, address));
      const at = book.probedAt(address);
      if (link === undefined || link.address === address) return [];
      if (at !== null && Math.abs(now - at) < PROBE_AGAIN_MS) return []; // also when the clock was set back
      return [{ at: at ?? 0, target: { address, interfaceName: link.interfaceName, source: link.address } }];
    });
    return targets
      .sort((a, b) => a.at - b.at)
      .slice(0, BATCH)
      .map(({ target }) => target);
  }

  async function lookAtNeighbors(signal: AbortSignal): Promise<void> {
    if (neighborsAt !== null && clock.monotonic() - neighborsAt < NEIGHBORS_MS) return;
    neighborsAt = clock.monotonic();
    const links = ports.links();
    const seen = confirmedNeighbors(await ports.neighbors(signal), new Set(links.map(({ interfaceName }) => interfaceName)));
    const at = clock.now();
    const inside = seen.filter(({ address }) => links.some(({ prefix }) => prefixContains(prefix, address)));
    note(inside.map(({ address, hardwareAddress }) => ({ address, hardwareAddresses: [hardwareAddress], at, how: "neighbor" })));
  }

  /** One round; answers how long to wait for the next. */
  async function look(signal: AbortSignal): Promise<number> {
    await lookAtNeighbors(signal);
    const targets = due();
    if (targets.length > 0) {
      const results = await prober.probe(targets, signal);
      const at = clock.now();
      note(results.map(({ target, hardwareAddresses }) => ({ address: target.address, hardwareAddresses, at, how: "probe" })));
    }
    return targets.length > 0 ? PAUSE_MS : NEIGHBORS_MS / 6;
  }

  function tell(next: Problem | null): void {
    if (next?.code === problem?.code && next?.message === problem?.message) return;
    if (next === null) log.info("the wires can be looked at again");
    else log.warn({ problem: next }, "the wires cannot be looked at");
    problem = next;
    ports.onChange();
  }

  async function lookSafely(signal: AbortSignal): Promise<number> {
    try {
      const next = await look(signal);
      tell(null);
      return next;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof EnvironmentError)) throw error;
      tell({ code: error.code, at: error.at, message: describeError(error), remedy: error.remedy ?? "it is tried again" });
      return RETRY_MS;
    }
  }

  return {
    problem: () => problem,
    all: () => book.all(),
    want(addresses) {
      wanted = addresses;
      bell.ring();
    },
    async run(signal) {
      try {
        while (!signal.aborted) {
          const pauseMs = await lookSafely(signal);
          if (pauseMs === PAUSE_MS) await clock.sleep(pauseMs, signal);
          else await bell.wait(pauseMs, signal);
        }
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    },
  };
}
