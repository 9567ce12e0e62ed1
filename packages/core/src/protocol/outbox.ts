import type { IpAddress } from "../address/ip.js";
import type { HostInterface } from "../interface/model.js";
import type { Problem } from "../problem.js";
import { LEASES_PER_FRAME_MAX, type AgentMessage, type DaemonStatus, type HostKnowledge, type LeaseReport } from "./messages.js";

/** What an agent's reconciler says of itself. */
export interface StatusReport {
  readonly accepted: number;
  readonly daemons: readonly DaemonStatus[];
  readonly problems: readonly Problem[];
  readonly ntp?: boolean | null;
}

/** What an agent's observer says of its host. */
export interface HostReport {
  readonly interfaces: readonly HostInterface[];
  readonly knowledge: HostKnowledge | null;
}

/** Leases that came or changed, and addresses whose lease is gone. */
export interface LeaseChanges {
  readonly upserts: readonly LeaseReport[];
  readonly gone: readonly IpAddress[];
}

/** Frames sent and not yet acknowledged. */
export const WINDOW_FRAMES = 16;
/** Addresses with changes that wait for the region; more, and the leases are sent whole again instead. */
export const LEASE_CHANGES_MAX = 16_384;

/**
 * What the agent has to tell: the newest of each observation, not a history. Changes of one address collapse, interfaces and status are sent
 * as they are when their turn comes, and what was sent but not acknowledged when a session ended is sent again in the next one.
 * `next` answers the frame to send now, or null when there is none or the window is full.
 */
export interface Outbox {
  setHost(host: HostReport): void;
  setStatus(status: StatusReport): void;
  changeLeases(changes: LeaseChanges): void;
  /** The leases must be sent whole, as the source has them when their turn comes. */
  renewLeases(): void;
  /** A session begins: the region has merged up to `acknowledged`, or wants everything (null). */
  open(acknowledged: number | null): void;
  acknowledge(sequence: number): void;
  next(): AgentMessage | null;
}

type Change = LeaseReport | null;

interface Sent {
  readonly sequence: number;
  /** Of a delta; `snapshot` for a page of one, which is worth nothing without the others; null for anything that is sent whole in every session. */
  readonly changes: ReadonlyMap<IpAddress, Change> | "snapshot" | null;
}

/**
 * All leases, to be asked for a page at a time; an array is one. A page may say what has changed since the snapshot was taken, for those changes are sent after it too:
 * so a source need not make tens of thousands of reports before the first is sent.
 */
export interface LeasePages {
  readonly length: number;
  slice(from: number, to: number): readonly LeaseReport[];
}

/**
 * `snapshot` answers all leases as they are now, null while the leases file has not been read: the region then keeps what it has.
 * The outbox keeps the answer until its pages are sent.
 */
export function createOutbox(
  snapshot: () => LeasePages | null,
  { leasesPerFrame = LEASES_PER_FRAME_MAX }: { readonly leasesPerFrame?: number } = {},
): Outbox {
  return new PendingObservations(snapshot, leasesPerFrame);
}

class PendingObservations implements Outbox {
  readonly #snapshot: () => LeasePages | null;
  readonly #leasesPerFrame: number;
  #sequence = 0;
  #host: HostReport | null = null;
  #status: StatusReport | null = null;
  #hostDue = false;
  #statusDue = false;
  #snapshotDue = true;
  #pages: { readonly leases: LeasePages; readonly from: number } | null = null;
  #pending = new Map<IpAddress, Change>();
  #sent: Sent[] = [];

  constructor(snapshot: () => LeasePages | null, leasesPerFrame: number) {
    this.#snapshot = snapshot;
    this.#leasesPerFrame = leasesPerFrame;
  }

  setHost(latest: HostReport): void {
    this.#host = latest;
    this.#hostDue = true;
  }

  setStatus(latest: StatusReport): void {
    this.#status = latest;
    this.#statusDue = true;
  }

  changeLeases({ upserts, gone }: LeaseChanges): void {
    for (const address of gone) this.#note(address, null);
    for (const lease of upserts) this.#note(lease.address, lease);
  }

  renewLeases(): void {
    this.#pages = null;
    this.#pending = new Map();
    this.#snapshotDue = true;
  }

  open(acknowledged: number | null): void {
    this.#hostDue = this.#host !== null;
    this.#statusDue = this.#status !== null;
    const lost = this.#sent.filter((frame) => frame.sequence > (acknowledged ?? -1)).map((frame) => frame.changes);
    const newer = this.#pending;
    this.#sent = [];
    this.#pending = new Map();
    if (acknowledged === null || this.#pages !== null || lost.includes("snapshot")) this.renewLeases();
    for (const changes of [...lost, newer]) {
      if (changes === null || changes === "snapshot") continue;
      for (const [address, change] of changes) this.#note(address, change);
    }
  }

  acknowledge(sequence: number): void {
    this.#sent = this.#sent.filter((frame) => frame.sequence > sequence);
  }

  next(): AgentMessage | null {
    if (this.#sent.length >= WINDOW_FRAMES) return null;
    return this.#nextLevel() ?? this.#nextPage() ?? this.#nextDelta();
  }

  #note(address: IpAddress, change: Change): void {
    if (this.#snapshotDue) return; // the snapshot will hold it
    if (this.#pending.size < LEASE_CHANGES_MAX || this.#pending.has(address)) this.#pending.set(address, change);
    else this.renewLeases();
  }

  #record(changes: Sent["changes"]): number {
    this.#sequence += 1;
    this.#sent.push({ sequence: this.#sequence, changes });
    return this.#sequence;
  }

  #nextLevel(): AgentMessage | null {
    if (this.#hostDue && this.#host !== null) {
      this.#hostDue = false;
      const { interfaces, knowledge } = this.#host;
      return { type: "interfaces", sequence: this.#record(null), interfaces: copyInterfaces(interfaces), knowledge };
    }
    if (!this.#statusDue || this.#status === null) return null;
    this.#statusDue = false;
    return { type: "status", sequence: this.#record(null), ...statusFields(this.#status) };
  }

  #nextPage(): AgentMessage | null {
    this.#beginSnapshot();
    if (this.#pages === null) return null;
    const { leases, from } = this.#pages;
    const to = Math.min(leases.length, from + this.#leasesPerFrame);
    const last = to === leases.length;
    const page = from === 0 ? (last ? "whole" : "begin") : last ? "end" : "more";
    this.#pages = last ? null : { leases, from: to };
    return { type: "leases", sequence: this.#record("snapshot"), page, leases: [...leases.slice(from, to)], gone: [] };
  }

  #beginSnapshot(): void {
    const leases = this.#snapshotDue ? this.#snapshot() : null;
    if (leases === null) return;
    this.#snapshotDue = false;
    this.#pending = new Map();
    this.#pages = { leases, from: 0 };
  }

  #nextDelta(): AgentMessage | null {
    if (this.#pending.size === 0) return null;
    const changes = new Map<IpAddress, Change>();
    for (const [address, change] of this.#pending) {
      if (changes.size === this.#leasesPerFrame) break;
      changes.set(address, change);
      this.#pending.delete(address);
    }
    const leases = [...changes.values()].filter((change) => change !== null);
    const gone = [...changes].filter(([, change]) => change === null).map(([address]) => address);
    return { type: "leases", sequence: this.#record(changes), page: "delta", leases, gone };
  }
}

/** As the wire's type wants it: lists of its own. */
function copyInterfaces(
  interfaces: readonly HostInterface[],
): Extract<AgentMessage, { readonly type: "interfaces" }>["interfaces"] {
  return interfaces.map((item) => ({
    ...item,
    flags: [...item.flags],
    addresses: item.addresses.map((address) => ({ ...address, flags: [...address.flags] })),
  }));
}

function statusFields({ accepted, daemons, problems, ntp = null }: StatusReport) {
  return { accepted, daemons: [...daemons], problems: problems.slice(0, 1024).map(cutProblem), ntp };
}

/** A problem cut to the lengths that the wire allows. */
export function cutProblem({ code, at, message, remedy }: Problem): Problem {
  const cut = { code: code.slice(0, 64), at: at.slice(0, 256), message: message.slice(0, 1024) };
  return remedy === undefined ? cut : { ...cut, remedy: remedy.slice(0, 1024) };
}
