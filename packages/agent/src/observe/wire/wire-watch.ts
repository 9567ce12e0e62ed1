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
import { createBell, describeError, EnvironmentError, type Bell, type Clock, type Log } from "@berth/host";
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
const NEIGHBORS_MS = 20_000;
const IDLE_MS = 5_000;
const RETRY_MS = 5_000;
/** Between two batches: what machines say to each other comes first. */
const PAUSE_MS = 200;

export function createWireWatch(ports: WireWatchPorts): WireWatch {
  return new Watch(ports);
}

class Watch implements WireWatch {
  private readonly ports: WireWatchPorts;
  private readonly bell: Bell;
  private readonly book = new WireBook();
  private wanted: readonly IpAddress[] = [];
  private failure: Problem | null = null;
  private neighborsAt: number | null = null;

  constructor(ports: WireWatchPorts) {
    this.ports = ports;
    this.bell = createBell(ports.clock);
  }

  problem(): Problem | null {
    return this.failure;
  }

  all(): readonly WireAnswer[] {
    return this.book.all();
  }

  want(addresses: readonly IpAddress[]): void {
    this.wanted = addresses;
    this.bell.ring();
  }

  async run(signal: AbortSignal): Promise<void> {
    try {
      while (!signal.aborted) {
        const pauseMs = await this.lookSafely(signal);
        if (pauseMs === PAUSE_MS) await this.ports.clock.sleep(pauseMs, signal);
        else await this.bell.wait(pauseMs, signal);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  private async lookSafely(signal: AbortSignal): Promise<number> {
    try {
      const next = await this.look(signal);
      this.tell(null);
      return next;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof EnvironmentError)) throw error;
      const { code, at, remedy = "it is tried again" } = error;
      this.tell({ code, at, message: describeError(error), remedy });
      return RETRY_MS;
    }
  }

  /** One round; answers how long to wait for the next. */
  private async look(signal: AbortSignal): Promise<number> {
    const { clock, prober } = this.ports;
    await this.lookAtNeighbors(signal);
    const targets = this.due();
    if (targets.length === 0) return IDLE_MS;
    const results = await prober.probe(targets, signal);
    const at = clock.now();
    this.note(results.map(({ target, hardwareAddresses }) => ({ address: target.address, hardwareAddresses, at, how: "probe" })));
    return PAUSE_MS;
  }

  private async lookAtNeighbors(signal: AbortSignal): Promise<void> {
    const { clock, links, neighbors } = this.ports;
    if (this.neighborsAt !== null && clock.monotonic() - this.neighborsAt < NEIGHBORS_MS) return;
    this.neighborsAt = clock.monotonic();
    const here = links();
    const seen = confirmedNeighbors(await neighbors(signal), new Set(here.map(({ interfaceName }) => interfaceName)));
    const inside = seen.filter(({ address }) => here.some(({ prefix }) => prefixContains(prefix, address)));
    const at = clock.now();
    this.note(
      inside.map(({ address, hardwareAddress }) => ({ address, hardwareAddresses: [hardwareAddress], at, how: "neighbor" })),
    );
  }

  /** What is to be probed now: never probed ones first and in the region's order, then those whose answer is oldest. */
  private due(): readonly WireTarget[] {
    const links = this.ports.links();
    const now = this.ports.clock.now();
    const targets = this.wanted.flatMap((address) => {
      const link = links.find(({ prefix }) => prefixContains(prefix, address));
      const at = this.book.probedAt(address);
      if (link === undefined || link.address === address) return [];
      if (at !== null && Math.abs(now - at) < PROBE_AGAIN_MS) return []; // either way: a clock may be set back
      return [{ at: at ?? 0, target: { address, interfaceName: link.interfaceName, source: link.address } }];
    });
    const oldest = targets.sort((a, b) => a.at - b.at).slice(0, BATCH);
    return oldest.map(({ target }) => target);
  }

  private note(answers: readonly WireAnswer[]): void {
    const news = this.book.note(answers);
    if (news.length > 0) this.ports.report(news);
  }

  private tell(next: Problem | null): void {
    if (next?.code === this.failure?.code && next?.message === this.failure?.message) return;
    if (next === null) this.ports.log.info("the wires can be looked at again");
    else this.ports.log.warn({ problem: next }, "the wires cannot be looked at");
    this.failure = next;
    this.ports.onChange();
  }
}
