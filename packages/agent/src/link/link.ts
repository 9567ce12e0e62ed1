import { createPrivateKey, X509Certificate } from "node:crypto";
import {
  assert,
  createOutbox,
  LINK_STOPPED,
  linkWakeAt,
  parseRegionAddress,
  stepLink,
  type AgentMessage,
  type Channel,
  type CoordinatorMessage,
  type DesiredState,
  type HostInterface,
  type LeaseChanges,
  type LeaseReport,
  type LinkEffect,
  type LinkEvent,
  type LinkState,
  type Outbox,
  type Problem,
  type RegionAddress,
  type StatusReport,
} from "@berth/core";
import { createBell, EnvironmentError, describeError, type Bell, type Clock, type Log } from "@berth/host";
import type { Identity } from "../identity/identity.js";
import { dialRegion, type DialRegion } from "./dial-region.js";
import { decodeFrame, encodeFrame } from "./frames.js";

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
  /** Generation of the desired state on the disk, 0 for none. */
  readonly generation: () => number;
  /** Takes a desired state; it is on the disk when this resolves with null. A problem is why it was refused. */
  readonly onDesired: (state: DesiredState) => Promise<Problem | null>;
  /** All leases as they are now; null while the leases file has not been read. */
  readonly leases: () => readonly LeaseReport[] | null;
  /** Keeps a renewed certificate or new addresses of the region; durable when it resolves. */
  readonly saveIdentity: (identity: Identity) => Promise<void>;
  readonly dial?: DialRegion;
}

/**
 * The agent's link. What is reported is "this is the newest": it is sent when there is a session, again in the next session where that is needed, and
 * nobody waits for it.
 */
export interface Link {
  /** Dials, and dials again, until aborted. */
  run(signal: AbortSignal): Promise<void>;
  reportInterfaces(interfaces: readonly HostInterface[]): void;
  reportStatus(status: StatusReport): void;
  /** Leases that came, changed or went since the last call. */
  changeLeases(changes: LeaseChanges): void;
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
  /** How far this host's clock is ahead of the region's, measured at the last welcome; null before it. */
  readonly clockAheadMs: number | null;
  readonly certificateEndsAt: number;
}

/** Octets that may wait in the socket before the next observation waits in the outbox, where newer ones replace it. */
const BUFFERED_MAX = 256 * 1024;
/** An unanswered request for a certificate is repeated after this long. */
const RENEW_AGAIN_MS = 3_600_000;
const CLOCK_OFF_MS = 30_000;
const IDLE_MS = 3_600_000;
const REGIONS_MAX = 64;

export function createLink(options: LinkOptions): Link {
  return new RegionLink(options);
}

class RegionLink implements Link {
  readonly #options: LinkOptions;
  readonly #outbox: Outbox;
  readonly #bell: Bell;
  #identity: Identity;
  #state: LinkState = LINK_STOPPED;
  #channel: Channel | null = null;
  #dialing = new AbortController();
  #problem: Problem | null = null;
  #clockAheadMs: number | null = null;
  #renewAskedAt: number | null = null;
  /** Desired states and certificates are taken one after the other. */
  #taking: Promise<void> = Promise.resolve();

  constructor(options: LinkOptions) {
    this.#options = options;
    this.#identity = options.identity;
    this.#outbox = createOutbox(options.leases);
    this.#bell = createBell(options.clock);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    this.#step({ kind: "start" });
    try {
      while (!signal.aborted) {
        const wakeAt = linkWakeAt(this.#state);
        await this.#bell.wait(wakeAt === null ? IDLE_MS : Math.max(0, wakeAt - clock.monotonic()), signal);
        this.#step({ kind: "tick" });
        this.#renewWhenDue();
        this.#flush();
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      this.#step({ kind: "stop" });
      await this.#taking;
    }
  }

  reportInterfaces(interfaces: readonly HostInterface[]): void {
    this.#outbox.setInterfaces(interfaces);
    this.#bell.ring();
  }

  reportStatus(status: StatusReport): void {
    this.#outbox.setStatus(status);
    this.#bell.ring();
  }

  changeLeases(changes: LeaseChanges): void {
    this.#outbox.changeLeases(changes);
    this.#bell.ring();
  }

  renewLeases(): void {
    this.#outbox.renewLeases();
    this.#bell.ring();
  }

  status(): LinkStatus {
    const region = "region" in this.#state ? (this.#addresses()[this.#state.region] ?? null) : null;
    const { validTo } = new X509Certificate(this.#identity.certificate);
    return {
      state: this.#state.kind,
      region,
      problem: this.#problem,
      clockAheadMs: this.#clockAheadMs,
      certificateEndsAt: Date.parse(validTo),
    };
  }

  #addresses(): readonly string[] {
    return [...new Set([...this.#options.regions, ...this.#identity.regions])].slice(0, REGIONS_MAX);
  }

  #step(event: LinkEvent): void {
    const { clock, random } = this.#options;
    const context = { now: clock.monotonic(), random: random(), regions: this.#addresses().length };
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
        this.#renewAskedAt = null;
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
    const text = this.#addresses()[region];
    assert(text !== undefined, "a region index without an address");
    const address: { readonly ok: true; readonly value: RegionAddress } | ReturnType<typeof parseRegionAddress> =
      parseRegionAddress(text);
    if (!address.ok) {
      this.#lose(connection, address.problems[0] ?? null);
      return;
    }
    this.#dialing = new AbortController();
    dial(address.value, this.#identity, this.#dialing.signal).then(
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
    const { hostname, version, stream, generation } = this.#options;
    const { rack } = this.#identity;
    this.#send({ type: "hello", version, rack, hostname: hostname.slice(0, 253), generation: generation(), stream });
  }

  #send(message: AgentMessage): void {
    this.#channel?.send(encodeFrame(message));
  }

  /** Sends what is due while the region keeps up. */
  #flush(): void {
    while (this.#state.kind === "connected" && this.#channel !== null && this.#channel.bufferedBytes < BUFFERED_MAX) {
      const message = this.#outbox.next();
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
        this.#take(() => this.#takeDesired(message.state, connection));
        return;
      case "acknowledge":
        this.#outbox.acknowledge(message.sequence);
        if (message.problems.length > 0) log.warn({ problems: message.problems }, "the region left out part of an observation");
        if (message.problems.some(({ code }) => code === "page-out-of-order")) this.#outbox.renewLeases();
        this.#bell.ring();
        return;
      case "certificate":
        this.#take(() => this.#takeCertificate(message.certificate));
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
    const { clock, log } = this.#options;
    this.#clockAheadMs = clock.now() - message.now;
    if (Math.abs(this.#clockAheadMs) > CLOCK_OFF_MS)
      log.warn({ aheadMs: this.#clockAheadMs }, "this host's clock differs from the region's");
    log.info({ region: message.region, acknowledged: message.acknowledged }, "linked to the region");
    this.#outbox.open(message.acknowledged);
    this.#step({ kind: "welcomed", connection });
    const regions = [...new Set([...this.#identity.regions, ...message.regions])].filter((text) => parseRegionAddress(text).ok);
    if (regions.length > this.#identity.regions.length)
      this.#take(() => this.#keepIdentity({ ...this.#identity, regions: regions.slice(0, REGIONS_MAX) }));
  }

  async #takeDesired(state: DesiredState, connection: number): Promise<void> {
    const problem = await this.#options.onDesired(state);
    if (problem !== null) this.#options.log.error({ generation: state.generation, problem }, "desired state refused");
    if (connection === this.#state.connection)
      this.#send({ type: "receipt", generation: state.generation, problems: problem === null ? [] : [{ ...problem }] });
  }

  async #takeCertificate(pem: string): Promise<void> {
    const certificate = new X509Certificate(pem);
    const fits =
      certificate.checkPrivateKey(createPrivateKey(this.#identity.key)) &&
      certificate.verify(new X509Certificate(this.#identity.ca).publicKey);
    if (!fits)
      throw new EnvironmentError(
        "certificate-unfit",
        this.#identity.rack,
        "the region sent a certificate that is not for our key",
      );
    await this.#keepIdentity({ ...this.#identity, certificate: pem });
    this.#options.log.info({ until: certificate.validTo }, "certificate renewed");
  }

  async #keepIdentity(identity: Identity): Promise<void> {
    await this.#options.saveIdentity(identity);
    this.#identity = identity;
  }

  /** One after the other; a failure is told and the link goes on, the region sends it again in the next session. */
  #take(step: () => Promise<void>): void {
    this.#taking = this.#taking.then(step).catch((error: unknown) => {
      this.#options.log.error({ err: error, problem: describeError(error) }, "failed to take what the region sent");
    });
  }

  /** At half of its life the certificate is renewed over the link. */
  #renewWhenDue(): void {
    const { clock, log } = this.#options;
    if (this.#state.kind !== "connected") return;
    const { validFrom, validTo } = new X509Certificate(this.#identity.certificate);
    if (clock.now() < (Date.parse(validFrom) + Date.parse(validTo)) / 2) return;
    if (this.#renewAskedAt !== null && clock.monotonic() - this.#renewAskedAt < RENEW_AGAIN_MS) return;
    this.#renewAskedAt = clock.monotonic();
    log.info({ until: validTo }, "asking for a new certificate");
    this.#take(async () => {
      const { createCertificateRequest } = await import("../identity/certificate-request.js");
      this.#send({ type: "renew", request: await createCertificateRequest(this.#identity.key) });
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
