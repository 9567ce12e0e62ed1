import {
  accepted,
  BASE_MISSING,
  CLOSE,
  diffDesired,
  type AgentMessage,
  type Channel,
  type CoordinatorMessage,
  type Decoded,
  type DesiredDigests,
  type DesiredState,
  type IpAddress,
  type Problem,
  type Result,
} from "@berth/core";
import type { Clock, Log } from "@berth/host";
import type { RackRegistry } from "../racks/rack-registry.js";
import { decodeFrame, encodeDesired, encodeFrame } from "./frames.js";
import type { Greeting } from "./twin-watch.js";

/** Who a connection is, from its certificate alone. */
export interface Peer {
  readonly rack: string;
  readonly publicKeyHash: string;
  /** End of its certificate, milliseconds since 1970. */
  readonly certificateEndsAt: number;
}

export interface RenewedCertificate {
  readonly pem: string;
  /** Milliseconds since 1970. */
  readonly endsAt: number;
}

/** Where racks' looks at their wires go, and what they are to look at. */
export interface WirePort {
  hear(rackId: string, message: Extract<AgentMessage, { readonly type: "wire" }>): void;
  /** Addresses that the rack shall probe, most urgent first. */
  wishesFor(rackId: string): readonly IpAddress[];
}

/** What a session needs of its hub. */
export interface SessionPorts {
  readonly registry: RackRegistry;
  readonly clock: Clock;
  readonly log: Log;
  readonly region: string;
  readonly version: string;
  readonly regions: () => readonly string[];
  desiredFor(rackId: string): Promise<DesiredState | null> | DesiredState | null;
  readonly digests: DesiredDigests;
  readonly wire: WirePort;
  /** A new certificate for the same key, or why not. */
  renew(peer: Peer, request: string): Promise<Result<RenewedCertificate>>;
  /** A good hello came: why the session must not open all the same, or null. */
  judge(session: Session, newcomer: Greeting): Problem | null;
  /** The session opens: an older one of the rack has to go. */
  opening(session: Session): void;
  /** A desired state was sent, or why it could not be. */
  delivered(rackId: string, problem: Problem | null): void;
  ended(session: Session): void;
}

/** Unreadable frames before the session ends. A newer agent's unknown messages do not count. */
const INVALID_MAX = 64;
/** Problems in one answer. */
const PROBLEMS_MAX = 64;
/** Octets beyond a desired state that an agent may leave unread before it counts as too slow; the next desired state waits for less. */
const BUFFERED_MAX = 1024 * 1024;
const BUFFERED_FOR_DESIRED = 256 * 1024;
const HELLO_TIMEOUT_MS = 10_000;
const PING_AFTER_MS = 15_000;
const SILENT_AFTER_MS = 45_000;

type Phase = "greeting" | "open" | "ended";

/**
 * One connection of one rack, from its first frame to its last. Everything about who the peer is comes from its certificate; its hello only has to agree.
 */
export class Session {
  readonly peer: Peer;
  readonly connection: number;
  readonly #channel: Channel;
  readonly #ports: SessionPorts;
  readonly #log: Log;
  readonly #beganAt: number;
  /** Moves when the certificate is renewed in this session. */
  #certificateEndsAt: number;
  #phase: Phase = "greeting";
  #heardAt: number;
  #pingedAt: number;
  #greeting: Greeting | null = null;
  /** Generation that the rack had when it came. */
  #greeted = 0;
  #warned = false;
  /** Newest generation that the rack has, refused, or was sent on this connection. */
  #offered = 0;
  /** What the rack holds, as far as is known: the next desired state is sent as what it changes of this one. Null: it is sent whole. */
  #base: DesiredState | null = null;
  #takesChanges = false;
  /** Generation that was last sent as a change; null when none was since the last whole state. */
  #changed: number | null = null;
  /** Octets of the last desired state, which may still be on its way. */
  #offeredBytes = 0;
  #pushing = false;
  #pushDue = false;
  /** Addresses that the rack was last told to probe on this connection. */
  #wished = "";
  #unknown = 0;
  #invalid = 0;

  constructor(channel: Channel, peer: Peer, setup: { readonly connection: number; readonly ports: SessionPorts }) {
    this.peer = peer;
    this.connection = setup.connection;
    this.#channel = channel;
    this.#ports = setup.ports;
    this.#certificateEndsAt = peer.certificateEndsAt;
    this.#log = setup.ports.log.child({ rack: peer.rack, connection: setup.connection });
    this.#beganAt = this.#heardAt = this.#pingedAt = this.#now();
    channel.listen({
      frame: (bytes) => {
        this.#heardAt = this.#now();
        this.#receiveFrame(bytes);
      },
      alive: () => {
        this.#heardAt = this.#now();
        if (this.#phase === "open") this.#ports.registry.heard(peer.rack);
      },
      closed: (code, reason) => {
        this.#end(code, reason);
      },
    });
  }

  /** From its hello; null before it. */
  get greeting(): Greeting | null {
    return this.#greeting;
  }

  /** Frames that were ignored or refused. */
  counters(): { readonly unknown: number; readonly invalid: number } {
    return { unknown: this.#unknown, invalid: this.#invalid };
  }

  /** Sends the newest desired state unless the rack has it. Many calls while one is under way become one more. */
  push(): void {
    this.#pushDue = true;
    if (this.#pushing || this.#phase !== "open") return;
    this.#pushing = true;
    this.#pushNewest()
      .catch((error: unknown) => {
        this.#log.error({ err: error }, "failed to read the desired state of a rack");
      })
      .finally(() => {
        this.#pushing = false;
      });
  }

  /** Tells the rack which addresses to probe, unless it was told just that. */
  probe(): void {
    if (this.#phase !== "open") return;
    const addresses = [...this.#ports.wire.wishesFor(this.peer.rack)];
    const wished = addresses.join();
    if (wished === this.#wished) return;
    this.#wished = wished;
    this.#send({ type: "probe", addresses });
  }

  /** Called every second or so: deadlines, liveness, what waited for a free buffer. */
  tick(): void {
    const now = this.#now();
    if (this.#phase === "ended") return;
    if (this.#ports.clock.now() >= this.#certificateEndsAt) {
      this.refuse(problem("certificate-expired", "certificate", "the certificate of the rack has ended"), CLOSE.refused);
    } else if (this.#phase === "greeting" && now - this.#beganAt > HELLO_TIMEOUT_MS) {
      this.refuse(problem("hello-missing", "hello", "no hello in time"), CLOSE.silent);
    } else if (now - this.#heardAt > SILENT_AFTER_MS) {
      this.#end(CLOSE.silent, "silent");
      this.#channel.terminate();
    } else if (now - Math.max(this.#heardAt, this.#pingedAt) > PING_AFTER_MS) {
      this.#pingedAt = now;
      this.#channel.ping();
    }
    if (this.#pushDue) this.push();
  }

  /** Ends the session and tells why. */
  refuse(why: Problem, code: number): void {
    if (this.#phase === "ended") return;
    this.#send({ type: "refuse", problem: why });
    this.#channel.close(code, why.code);
    this.#end(code, why.code);
  }

  #now(): number {
    return this.#ports.clock.monotonic();
  }

  #receiveFrame(bytes: Uint8Array): void {
    if (this.#phase === "ended") return;
    const decoded = decodeFrame(bytes);
    if (decoded.kind === "invalid") this.#receiveInvalid(decoded);
    else if (decoded.kind === "unknown") this.#unknown += 1;
    else if (this.#phase === "open") this.#receive(decoded.message, decoded.dropped);
    else if (decoded.message.type === "hello") this.#greet(decoded.message);
    else this.refuse(problem("hello-missing", decoded.message.type, "the first frame must be hello"), CLOSE.refused);
  }

  #greet(hello: Extract<AgentMessage, { readonly type: "hello" }>): void {
    const { rack, hostname, stream, generation, version, now } = hello;
    const { peer, connection } = this;
    const { registry, region, regions, clock } = this.#ports;
    if (rack !== peer.rack) {
      this.refuse(problem("rack-mismatch", "hello.rack", "the certificate belongs to another rack"), CLOSE.refused);
      return;
    }
    if (registry.record(rack)?.publicKeyHash !== peer.publicKeyHash) {
      this.refuse(problem("rack-unknown", "hello.rack", "the rack was removed, or its host was replaced"), CLOSE.refused);
      return;
    }
    const twin = this.#ports.judge(this, { hostname, stream });
    if (twin !== null) {
      this.#log.warn({ hostname, problem: twin }, "a second host with the identity of a rack");
      this.refuse(twin, CLOSE.refused);
      return;
    }
    this.#greeting = { hostname, stream };
    const clockAheadMs = now === undefined ? null : now - clock.now();
    const acknowledged = registry.open(rack, { connection, stream, generation, clockAheadMs });
    this.#ports.opening(this);
    this.#phase = "open";
    this.#offered = this.#greeted = generation;
    this.#takesChanges = hello.takesChanges === true;
    this.#log.info({ version, generation, acknowledged }, "link opened");
    const addresses = regions().slice(0, 64);
    this.#send({ type: "welcome", version: this.#ports.version, region, acknowledged, now: clock.now(), regions: addresses });
    this.push();
    this.probe();
  }

  #receive(message: AgentMessage, dropped: readonly Problem[]): void {
    const { registry } = this.#ports;
    const { rack } = this.peer;
    registry.heard(rack);
    switch (message.type) {
      case "hello":
        this.#complain(problem("hello-repeated", "hello", "hello is said once"));
        return;
      case "interfaces":
      case "leases":
      case "status": {
        const problems = [...dropped, ...registry.observe(rack, message)].slice(0, PROBLEMS_MAX);
        this.#send({ type: "acknowledge", sequence: message.sequence, problems });
        return;
      }
      case "wire":
        this.#ports.wire.hear(rack, message);
        return;
      case "receipt":
        if (message.problems.length === 0) registry.accept(rack, message.generation);
        else if (message.problems.some(({ code }) => code === BASE_MISSING)) this.#pushWhole(message.generation);
        else this.#log.warn({ generation: message.generation, problems: message.problems }, "rack refused its desired state");
        return;
      case "renew":
        this.#renew(message.request);
    }
  }

  /** A known message with bad content is answered and forgotten, so that the rest is never blocked; endless rubbish ends the session. */
  #receiveInvalid({ sequence, problems }: Extract<Decoded<AgentMessage>, { readonly kind: "invalid" }>): void {
    this.#invalid += 1;
    const first = problems[0] ?? problem("message-invalid", "frame", "unreadable");
    if (this.#phase === "greeting" || this.#invalid > INVALID_MAX) this.refuse(first, CLOSE.refused);
    else if (sequence === null) this.#complain(first);
    else this.#send({ type: "acknowledge", sequence, problems: problems.slice(0, PROBLEMS_MAX) });
  }

  #renew(request: string): void {
    this.#ports.renew(this.peer, request).then(
      (answer) => {
        if (!answer.ok) {
          for (const why of answer.problems) this.#complain(why);
          return;
        }
        this.#certificateEndsAt = answer.value.endsAt;
        this.#send({ type: "certificate", certificate: answer.value.pem });
      },
      (error: unknown) => {
        this.#log.error({ err: error }, "failed to renew a certificate");
        this.#complain(problem("renew-failed", "renew", "the region failed to issue a certificate; ask again later"));
      },
    );
  }

  async #pushNewest(): Promise<void> {
    while (this.#pushDue && this.#phase === "open" && this.#channel.bufferedBytes <= BUFFERED_FOR_DESIRED) {
      this.#pushDue = false;
      const state = await this.#ports.desiredFor(this.peer.rack);
      if (state === null) continue;
      if (state.generation < this.#greeted) this.#warnBehind(state.generation);
      // What it came with is what was made for it under that number: its digest tells, should it be something else.
      if (state.generation === this.#offered) this.#base ??= state;
      if (state.generation <= this.#offered) continue;
      this.#offered = state.generation;
      this.#sendDesired(state);
      this.#base = state;
    }
  }

  /** The rack cannot use a change. Once for each, or a peer could keep us busy with one word. */
  #pushWhole(generation: number): void {
    if (generation !== this.#changed) return;
    this.#base = this.#changed = null;
    this.#offered = 0;
    this.push();
  }

  #sendDesired(state: DesiredState): void {
    const { rack } = this.peer;
    const frame = this.#encode(state);
    const why = frame.ok ? undefined : frame.problems[0];
    this.#ports.delivered(rack, why === undefined ? null : { ...why, at: this.#ports.registry.record(rack)?.name ?? rack });
    if (frame.ok) {
      this.#sendFrame(frame.value);
      this.#offeredBytes = frame.value.length;
    } else this.#log.error({ generation: state.generation, problems: frame.problems }, "a desired state cannot be sent");
  }

  #encode(state: DesiredState): Result<Uint8Array> {
    const { digests } = this.#ports;
    const change = this.#takesChanges && this.#base !== null ? diffDesired(this.#base, state, (of) => digests.of(of)) : null;
    this.#changed = change === null ? null : state.generation;
    return change === null ? encodeDesired(state) : accepted(encodeFrame({ type: "desired-change", change }));
  }

  /** A rack never goes back, so it would refuse this one: a coordinator that runs on an old backup has to be told. */
  #warnBehind(generation: number): void {
    if (this.#warned) return;
    this.#warned = true;
    this.#log.warn(
      { newest: generation, rackHas: this.#greeted },
      "the rack holds a newer generation than this region ever made",
    );
  }

  #complain(why: Problem): void {
    this.#send({ type: "problem", problem: why });
  }

  #send(message: CoordinatorMessage): void {
    if (this.#phase !== "ended") this.#sendFrame(encodeFrame(message));
  }

  #sendFrame(frame: Uint8Array): void {
    if (this.#phase === "ended") return;
    if (this.#channel.bufferedBytes > this.#offeredBytes + BUFFERED_MAX) {
      this.#end(CLOSE.slow, "slow-reader");
      this.#channel.terminate();
      return;
    }
    this.#channel.send(frame);
  }

  #end(code: number, reason: string): void {
    if (this.#phase === "ended") return;
    this.#phase = "ended";
    this.#ports.registry.close(this.peer.rack, this.connection);
    this.#ports.ended(this);
    this.#log.info({ code, reason, ...this.counters() }, "link closed");
  }
}

function problem(code: string, at: string, message: string): Problem {
  return { code, at, message };
}
