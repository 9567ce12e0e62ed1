import {
  assert,
  checkClock,
  createOutbox,
  cutProblem,
  LINK_STOPPED,
  linkWakeAt,
  parseRegionAddress,
  stepLink,
  type AgentMessage,
  type Channel,
  type CoordinatorMessage,
  type DesiredDigests,
  type DesiredState,
  type HostReport,
  type IpAddress,
  type LeaseChanges,
  type LeasePages,
  type LinkEffect,
  type LinkEvent,
  type LinkState,
  type Outbox,
  type Problem,
  type RegionAddress,
  type StatusReport,
  type WireAnswer,
  WireOutbox,
} from "@berth/core";
import { createBell, EnvironmentError, describeError, type Bell, type Clock, type Log } from "@berth/host";
import type { Identity } from "../identity/identity.js";
import { dialRegion, type DialRegion } from "./dial-region.js";
import { DesiredIntake } from "./desired-intake.js";
import { decodeFrame, encodeFrame } from "./frames.js";
import { RegionClock } from "./region-clock.js";
import { RegionIdentity } from "./region-identity.js";

export interface LinkOptions {
  readonly identity: Identity;
  /** Addresses from the configuration, HOST:PORT; they are dialed before those that were learnt. */
  readonly regions: readonly string[];
  readonly clock: Clock;
  /** Even in [0, 1). */
  readonly random: () => number;
  readonly log: Log;
  readonly hostname: string;
  readonly version: string;
  /** Names this run of the agent; another in every run. */
  readonly stream: string;
  /** The desired state on the disk. */
  readonly held: () => DesiredState | null;
  /** Names desired states. */
  readonly digests: DesiredDigests;
  /** Takes a desired state; it is on the disk when this resolves with null. A problem is why it was refused. */
  readonly onDesired: (state: DesiredState) => Promise<Problem | null>;
  /** All leases as they are now; null while the leases file has not been read. */
  readonly leases: () => LeasePages | null;
  /** Keeps a renewed certificate or new addresses of the region; durable when it resolves. */
  readonly saveIdentity: (identity: Identity) => Promise<void>;
  readonly dial?: DialRegion;
  /** Everything that is remembered of the wires. */
  readonly wire: () => readonly WireAnswer[];
  /** The region wants these addresses probed from now on. */
  readonly onProbe: (addresses: readonly IpAddress[]) => void;
}

/**
 * The agent's link. What is reported is "this is the newest": it is sent when there is a session, again in the next session where that is needed, and
 * nobody waits for it.
 */
export interface Link {
  /** Dials, and dials again, until aborted. */
  run(signal: AbortSignal): Promise<void>;
  reportHost(host: HostReport): void;
  reportStatus(status: StatusReport): void;
  /** Leases that came, changed or went since the last call. */
  changeLeases(changes: LeaseChanges): void;
  /** Answers on the wire that are news. */
  reportWire(answers: readonly WireAnswer[]): void;
  /** The leases file was read for the first time or anew: send them whole. */
  renewLeases(): void;
  status(): LinkStatus;
}

export interface LinkStatus {
  readonly state: LinkState["kind"];
  /** Address that is dialed or connected. */
  readonly region: string | null;
  /** Why the last attempt or session ended; null while all is well. */
  readonly problem: Problem | null;
  /** How far this host's clock is ahead of the region's, measured at the last welcome and followed since; null before it. */
  readonly clockAheadMs: number | null;
  readonly certificateEndsAt: number;
}

/** Octets that may wait in the socket before the next observation waits in the outbox, where newer ones replace it. */
const BUFFERED_MAX = 256 * 1024;
const IDLE_MS = 3_600_000;

export function createLink(options: LinkOptions): Link {
  return new RegionLink(options);
}

class RegionLink implements Link {
  readonly #options: LinkOptions;
  readonly #outbox: Outbox;
  readonly #wire: WireOutbox;
  readonly #bell: Bell;
  readonly #identity: RegionIdentity;
  readonly #intake: DesiredIntake;
  #state: LinkState = LINK_STOPPED;
  #channel: Channel | null = null;
  #dialing = new AbortController();
  #problem: Problem | null = null;
  readonly #regionClock: RegionClock;
  #status: StatusReport | null = null;

  constructor(options: LinkOptions) {
    this.#options = options;
    const { identity, regions, clock, log, saveIdentity, onDesired, held, digests } = options;
    this.#identity = new RegionIdentity({ identity, regions, clock, log, save: saveIdentity });
    const answer = this.#answer.bind(this);
    this.#intake = new DesiredIntake({ clock, log, held, digests, take: onDesired, answer });
    this.#outbox = createOutbox(options.leases);
    this.#wire = new WireOutbox(options.wire);
    this.#bell = createBell(clock);
    this.#regionClock = new RegionClock(clock);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    this.#step({ kind: "start" });
    try {
      while (!signal.aborted) {
        const wakeAt = linkWakeAt(this.#state);
        await this.#bell.wait(wakeAt === null ? IDLE_MS : Math.max(0, wakeAt - clock.monotonic()), signal);
        this.#step({ kind: "tick" });
        this.#intake.work();
        this.#renewWhenDue();
        if (this.#status !== null && this.#regionClock.wasSet()) this.#outbox.setStatus(this.#status);
        this.#flush();
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      this.#step({ kind: "stop" });
      await Promise.all([this.#intake.settled(), this.#identity.settled()]);
    }
  }

  reportHost(host: HostReport): void {
    this.#outbox.setHost(host);
    this.#bell.ring();
  }

  reportStatus(status: StatusReport): void {
    this.#status = status;
    this.#outbox.setStatus(status);
    this.#bell.ring();
  }

  changeLeases(changes: LeaseChanges): void {
    this.#outbox.changeLeases(changes);
    this.#bell.ring();
  }

  reportWire(answers: readonly WireAnswer[]): void {
    this.#wire.add(answers);
    this.#bell.ring();
  }

  renewLeases(): void {
    this.#outbox.renewLeases();
    this.#bell.ring();
  }

  status(): LinkStatus {
    return {
      state: this.#state.kind,
      region: "region" in this.#state ? (this.#identity.addresses()[this.#state.region] ?? null) : null,
      problem: this.#problem,
      clockAheadMs: this.#regionClock.aheadMs(),
      certificateEndsAt: this.#identity.certificateEndsAt,
    };
  }

  #step(event: LinkEvent): void {
    const { clock, random } = this.#options;
    const context = { now: clock.monotonic(), random: random(), regions: this.#identity.addresses().length };
    const { state, effects } = stepLink(this.#state, event, context);
    if (state.kind !== this.#state.kind) this.#options.log.debug({ from: this.#state.kind, to: state.kind }, "link state");
    const news = state !== this.#state || effects.length > 0;
    this.#state = state;
    for (const effect of effects) this.#perform(effect);
    if (news) this.#bell.ring();
  }

  #perform(effect: LinkEffect): void {
    switch (effect.kind) {
      case "dial":
        this.#dial(effect.connection, effect.region);
        return;
      case "greet":
        this.#greet();
        return;
      case "synchronise":
        this.#problem = null;
        this.#identity.askAgain();
        return;
      case "ping":
        this.#channel?.ping();
        return;
      case "hang-up":
        this.#dialing.abort();
        this.#channel?.close(1000, effect.reason);
        if (effect.reason !== "the agent stops") this.#channel?.terminate();
        this.#channel = null;
    }
  }

  #dial(connection: number, region: number): void {
    const { dial = dialRegion, log } = this.#options;
    const text = this.#identity.addresses()[region];
    assert(text !== undefined, "a region index without an address");
    const address: { readonly ok: true; readonly value: RegionAddress } | ReturnType<typeof parseRegionAddress> =
      parseRegionAddress(text);
    if (!address.ok) {
      this.#lose(connection, address.problems[0] ?? null);
      return;
    }
    this.#dialing = new AbortController();
    dial(address.value, this.#identity.current, this.#dialing.signal).then(
      (channel) => {
        if (connection === this.#state.connection && this.#state.kind === "dialing") this.#attach(channel, connection);
        else channel.terminate();
      },
      (error: unknown) => {
        log.debug({ region: text, err: error }, "dial failed");
        this.#lose(connection, problemOf(error, text));
      },
    );
  }

  #attach(channel: Channel, connection: number): void {
    this.#channel = channel;
    channel.listen({
      frame: (bytes) => {
        if (connection !== this.#state.connection) return;
        this.#step({ kind: "heard", connection });
        this.#receiveFrame(bytes, connection);
      },
      alive: () => {
        this.#step({ kind: "heard", connection });
      },
      closed: (code, reason) => {
        if (connection === this.#state.connection) this.#channel = null;
        const said = this.#problem !== null && this.#problem.code === reason;
        this.#lose(
          connection,
          said ? this.#problem : { code: "link-lost", at: `code ${code}`, message: reason || "the connection broke" },
        );
      },
    });
    this.#step({ kind: "opened", connection });
  }

  #lose(connection: number, problem: Problem | null): void {
    if (connection !== this.#state.connection) return;
    const news = problem?.code !== this.#problem?.code || this.#state.kind === "connected";
    this.#problem = problem;
    this.#options.log[news ? "warn" : "debug"]({ problem }, "no link to a region; the rack goes on with what it has");
    this.#step({ kind: "lost", connection });
  }

  #greet(): void {
    const { hostname, version, stream, held } = this.#options;
    const { rack } = this.#identity.current;
    this.#send({
      ...{ type: "hello", version, rack, hostname: hostname.slice(0, 253) },
      ...{ generation: held()?.generation ?? 0, stream, takesChanges: true },
    });
  }

  #send(message: AgentMessage): void {
    const told =
      message.type === "hello" || message.type === "wire" || "sequence" in message
        ? { ...message, now: this.#regionClock.tell() }
        : message;
    this.#channel?.send(encodeFrame(told));
  }

  /** Sends what is due while the region keeps up. */
  #flush(): void {
    while (this.#state.kind === "connected" && this.#channel !== null && this.#channel.bufferedBytes < BUFFERED_MAX) {
      const message = this.#outbox.next() ?? this.#wire.next();
      if (message === null) return;
      this.#send(message);
    }
  }

  #receiveFrame(bytes: Uint8Array, connection: number): void {
    const decoded = decodeFrame(bytes);
    if (decoded.kind === "message") this.#receive(decoded.message, connection);
    else if (decoded.kind === "invalid")
      this.#options.log.warn({ type: decoded.type, problems: decoded.problems }, "unreadable message of the region");
  }

  #receive(message: CoordinatorMessage, connection: number): void {
    const { log } = this.#options;
    switch (message.type) {
      case "welcome":
        this.#welcome(message, connection);
        return;
      case "desired":
        this.#intake.offer(message.state);
        return;
      case "desired-change":
        this.#intake.offerChange(message.change);
        return;
      case "probe":
        this.#options.onProbe(message.addresses);
        return;
      case "acknowledge":
        this.#outbox.acknowledge(message.sequence);
        if (message.problems.length > 0) log.warn({ problems: message.problems }, "the region left out part of an observation");
        if (message.problems.some(({ code }) => code === "page-out-of-order")) this.#outbox.renewLeases();
        this.#bell.ring();
        return;
      case "certificate":
        this.#identity.takeCertificate(message.certificate);
        return;
      case "problem":
        log.warn({ problem: message.problem }, "the region has a complaint");
        return;
      case "refuse":
        this.#problem = plain(message.problem);
        log.warn({ problem: message.problem }, "the region ends the session");
    }
  }

  #welcome(message: Extract<CoordinatorMessage, { readonly type: "welcome" }>, connection: number): void {
    const { log } = this.#options;
    this.#regionClock.measure(message.now);
    const skew = checkClock("this host", "clock", this.#regionClock.aheadMs());
    if (skew !== null) log.warn({ problem: skew }, "this host's clock differs from the region's");
    log.info({ region: message.region, acknowledged: message.acknowledged }, "linked to the region");
    this.#outbox.open(message.acknowledged);
    this.#wire.open();
    this.#step({ kind: "welcomed", connection });
    this.#identity.learn(message.regions);
  }

  #answer(generation: number, problem: Problem | null): void {
    if (this.#state.kind !== "connected") return; // the next hello says what is on the disk
    this.#send({ type: "receipt", generation, problems: problem === null ? [] : [cutProblem(problem)] });
  }

  #renewWhenDue(): void {
    if (this.#state.kind !== "connected") return;
    this.#identity.renewWhenDue((request) => {
      if (this.#state.kind === "connected") this.#send({ type: "renew", request });
    });
  }
}

function problemOf(error: unknown, at: string): Problem {
  if (!(error instanceof EnvironmentError)) return { code: "link-failed", at, message: describeError(error) };
  const { code, remedy } = error;
  return plain({ code, at: error.at, message: describeError(error), remedy });
}

function plain({
  code,
  at,
  message,
  remedy,
}: {
  code: string;
  at: string;
  message: string;
  remedy?: string | undefined;
}): Problem {
  return remedy === undefined ? { code, at, message } : { code, at, message, remedy };
}
