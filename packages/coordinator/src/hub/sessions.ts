import { CLOSE, type Channel, type DesiredState, type Problem } from "@berth/core";
import { stateDigests } from "../plan/state-digests.js";
import { renewRack, type AdmissionPorts } from "./admit-rack.js";
import { Session, type Peer, type SessionPorts, type WirePort } from "./session.js";
import { TwinWatch, type Greeting } from "./twin-watch.js";

export interface SessionsSetup {
  readonly admission: AdmissionPorts;
  readonly version: string;
  readonly desiredFor: (rackId: string) => Promise<DesiredState | null> | DesiredState | null;
  readonly wire: WirePort;
}

/** All sessions of the hub, whatever carries their frames. One a rack: the newest wins, unless two hosts have the rack's identity. */
export class Sessions {
  readonly #ports: SessionPorts;
  readonly #open = new Map<string, Session>();
  readonly #all = new Set<Session>();
  readonly #twins: TwinWatch;
  /** Desired states that are too large to be sent, by rack. */
  readonly #undelivered = new Map<string, Problem>();
  readonly #stopListening: () => void;
  #connections = 0;

  constructor({ admission, version, desiredFor, wire }: SessionsSetup) {
    const { registry, clock, log, tls, regions } = admission;
    this.#twins = new TwinWatch(() => clock.monotonic());
    this.#ports = {
      registry,
      clock,
      log,
      region: tls.region,
      version,
      regions,
      desiredFor,
      digests: stateDigests,
      wire,
      renew: (peer, request) => renewRack(admission, peer, request),
      judge: (session, newcomer) => this.#judge(session, newcomer),
      opening: (session) => {
        this.#opening(session);
      },
      delivered: (rackId, problem) => {
        if (problem === null) this.#undelivered.delete(rackId);
        else this.#undelivered.set(rackId, problem);
      },
      ended: (session) => {
        this.#all.delete(session);
        if (this.#open.get(session.peer.rack) === session) this.#open.delete(session.peer.rack);
      },
    };
    this.#stopListening = registry.onChange((rackId) => {
      this.#checkRack(rackId);
    });
  }

  accept(channel: Channel, peer: Peer): Session {
    this.#connections += 1;
    const session = new Session(channel, peer, { connection: this.#connections, ports: this.#ports });
    this.#all.add(session);
    return session;
  }

  push(rackId: string): void {
    this.#open.get(rackId)?.push();
  }

  probe(rackId: string): void {
    this.#open.get(rackId)?.probe();
  }

  racks(): readonly string[] {
    return [...this.#open.keys()];
  }

  /** What is wrong with links and what travels on them, in a stable order. */
  problems(): readonly Problem[] {
    return [...this.#twins.problems(), ...[...this.#undelivered.values()].sort((a, b) => (a.at < b.at ? -1 : 1))];
  }

  tick(): void {
    for (const session of this.#all) session.tick();
  }

  stop(): void {
    this.#stopListening();
    for (const session of [...this.#all])
      session.refuse({ code: "region-stops", at: "region", message: "the coordinator stops" }, CLOSE.goingAway);
  }

  #judge({ peer }: Session, newcomer: Greeting): Problem | null {
    const { rack } = peer;
    const rackName = this.#ports.registry.record(rack)?.name ?? rack;
    return this.#twins.judge({ rack, rackName, standing: this.#open.get(rack)?.greeting ?? null, newcomer });
  }

  #opening(session: Session): void {
    const older = this.#open.get(session.peer.rack);
    this.#open.set(session.peer.rack, session);
    older?.refuse({ code: "session-replaced", at: "session", message: "a newer session of this rack has begun" }, CLOSE.replaced);
  }

  /** Revocation: a rack that was removed, or whose host was replaced, loses its session at once. */
  #checkRack(rackId: string): void {
    const session = this.#open.get(rackId);
    if (this.#ports.registry.record(rackId) === null) {
      this.#twins.forget(rackId);
      this.#undelivered.delete(rackId);
    }
    if (session === undefined || this.#ports.registry.record(rackId)?.publicKeyHash === session.peer.publicKeyHash) return;
    this.#twins.forget(rackId);
    session.refuse(
      { code: "rack-removed", at: rackId, message: "the rack was removed, or its host was replaced" },
      CLOSE.refused,
    );
  }
}
