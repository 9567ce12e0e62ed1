import type { HostInterface, Neighbor } from "@berth/core";
import { createBell, describeError, EnvironmentError, type Bell, type Clock, type Commands, type Log } from "@berth/host";
import type { FollowPrograms } from "./follow-program.js";
import { createLinkMonitor } from "./link-monitor.js";
import { observeInterfaces, observeNeighbors } from "./observe-interfaces.js";
import { sameInterfaces } from "./same-interfaces.js";

export interface InterfaceObserverPorts {
  readonly commands: Commands;
  readonly programs: FollowPrograms;
  readonly clock: Clock;
  readonly log: Log;
}

/** How the observer does. Times of the monotonic clock, milliseconds. */
export type ScanState =
  | { readonly kind: "starting" }
  | { readonly kind: "watching"; readonly scannedAt: number }
  /** Scans fail or come back empty: `current` stays what the last good one saw. */
  | { readonly kind: "failing"; readonly since: number; readonly code: string; readonly message: string };

export interface InterfaceObserver {
  /** Watches until the signal; call once. */
  run(signal: AbortSignal): Promise<void>;
  /** What the last good scan saw; null before the first. */
  current(): readonly HostInterface[] | null;
  state(): ScanState;
  /** Called with the first good scan and with each that differs from the one before. Returns the way to stop. */
  onChange(listener: (interfaces: readonly HostInterface[]) => void): () => void;
  /** Who was seen on the wire, asked now. */
  neighbors(signal?: AbortSignal): Promise<readonly Neighbor[]>;
}

/** Without any nudge the host is looked at this often: `ip monitor` may have lost a message. */
const POLL_MS = 30_000;
/** A failed scan is tried again after this long. */
const RETRY_MS = 1000;
/** Scans start at least this far apart: a storm of changes costs ten scans a second, and an isolated change waits for nothing. */
const GAP_MS = 100;
/** The same for changes of routes, which tell nothing of addresses and come by the thousand on hosts that route. */
const ROUTE_GAP_MS = 1000;

/** Reads the host's interfaces whenever the kernel says that something changed, and passes on what really did. */
export function createInterfaceObserver(ports: InterfaceObserverPorts): InterfaceObserver {
  return new Observer(ports);
}

class Observer implements InterfaceObserver {
  private readonly ports: InterfaceObserverPorts;
  private readonly bell: Bell;
  private readonly listeners = new Set<(interfaces: readonly HostInterface[]) => void>();
  private seen: readonly HostInterface[] | null = null;
  private scan: ScanState = { kind: "starting" };
  /** An address or a link changed since the last scan. */
  private urgent = false;

  constructor(ports: InterfaceObserverPorts) {
    this.ports = ports;
    this.bell = createBell(ports.clock);
  }

  current(): readonly HostInterface[] | null {
    return this.seen;
  }

  state(): ScanState {
    return this.scan;
  }

  onChange(listener: (interfaces: readonly HostInterface[]) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  neighbors(signal?: AbortSignal): Promise<readonly Neighbor[]> {
    return observeNeighbors(this.ports.commands, signal);
  }

  async run(signal: AbortSignal): Promise<void> {
    const monitor = createLinkMonitor({
      ...this.ports,
      nudge: (urgent) => {
        this.urgent ||= urgent;
        this.bell.ring();
      },
    });
    try {
      await Promise.all([monitor.run(signal), this.scanLoop(signal)]);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  private async scanLoop(signal: AbortSignal): Promise<void> {
    for (;;) {
      await this.bell.wait(0, signal); // what rang until now is answered by this scan
      const startedAt = this.ports.clock.monotonic();
      this.urgent = false;
      await this.scanOnce(signal);
      await this.bell.wait(this.scan.kind === "failing" ? RETRY_MS : POLL_MS, signal);
      for (;;) {
        const early = startedAt + (this.urgent ? GAP_MS : ROUTE_GAP_MS) - this.ports.clock.monotonic();
        if (early <= 0) break;
        if (this.urgent) await this.ports.clock.sleep(early, signal);
        else await this.bell.wait(early, signal);
      }
    }
  }

  private async scanOnce(signal: AbortSignal): Promise<void> {
    const { clock, commands, log } = this.ports;
    let interfaces: readonly HostInterface[];
    try {
      interfaces = await observeInterfaces(commands, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof EnvironmentError)) throw error;
      if (this.scan.kind !== "failing") {
        log.warn({ code: error.code }, `cannot read this host's addresses, what was seen last stays: ${describeError(error)}`);
      }
      const since = this.scan.kind === "failing" ? this.scan.since : clock.monotonic();
      this.scan = { kind: "failing", since, code: error.code, message: error.message };
      return;
    }
    if (this.scan.kind === "failing") log.info("this host's addresses can be read again");
    this.scan = { kind: "watching", scannedAt: clock.monotonic() };
    if (this.seen !== null && sameInterfaces(this.seen, interfaces)) return;
    this.seen = interfaces;
    for (const listener of this.listeners) listener(interfaces);
  }
}
