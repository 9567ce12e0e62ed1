import { CLOSE, type Channel, type DesiredState } from "@berth/core";
import { renewRack, type AdmissionPorts } from "./admit-rack.js";
import { Session, type Peer, type SessionPorts } from "./session.js";

export interface SessionsSetup {
  readonly admission: AdmissionPorts;
  readonly version: string;
  readonly desiredFor: (rackId: string) => Promise<DesiredState | null> | DesiredState | null;
}

/** All sessions of the hub, whatever carries their frames. One a rack: the newest wins. */
export class Sessions {
  readonly #ports: SessionPorts;
  readonly #open = new Map<string, Session>();
  readonly #all = new Set<Session>();
  readonly #stopListening: () => void;
  #connections = 0;

  constructor({ admission, version, desiredFor }: SessionsSetup) {
    const { registry, clock, log, tls, regions } = admission;
    this.#ports = {
      registry,
      clock,
      log,
      region: tls.region,
      version,
      regions,
      desiredFor,
      renew: (peer, request) => renewRack(admission, peer, request),
      opening: (session) => {
        this.#opening(session);
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

  racks(): readonly string[] {
    return [...this.#open.keys()];
  }

  tick(): void {
    for (const session of this.#all) session.tick();
  }

  stop(): void {
    this.#stopListening();
    for (const session of [...this.#all])
      session.refuse({ code: "region-stops", at: "region", message: "the coordinator stops" }, CLOSE.goingAway);
  }

  #opening(session: Session): void {
    const older = this.#open.get(session.peer.rack);
    this.#open.set(session.peer.rack, session);
    older?.refuse({ code: "session-replaced", at: "session", message: "a newer session of this rack has begun" }, CLOSE.replaced);
  }

  /** Revocation: a rack that was removed, or whose host was replaced, loses its session at once. */
  #checkRack(rackId: string): void {
    const session = this.#open.get(rackId);
    if (session === undefined || this.#ports.registry.record(rackId)?.publicKeyHash === session.peer.publicKeyHash) return;
    session.refuse(
      { code: "rack-removed", at: rackId, message: "the rack was removed, or its host was replaced" },
      CLOSE.refused,
    );
  }
}
