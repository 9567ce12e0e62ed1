import { isoTime, noticesBetween, type CurrentProblem, type Notice, type NoticedState, type RackView } from "@berth/core";
import type { Clock } from "@berth/host";
import type { Store, TopologyStore } from "../store/store.js";
import { auditNotice, lastAuditNumber } from "./audit-notices.js";

export interface NoticeSourcePorts {
  readonly store: Pick<Store, "audit" | "settings">;
  readonly vipMoves: TopologyStore["moves"];
  readonly problems: () => readonly CurrentProblem[];
  readonly racks: () => readonly RackView[];
  readonly clock: Clock;
}

/** A notice, and up to where the audit log is read when it is told; 0 for those that come from elsewhere. */
export interface SourcedNotice {
  readonly notice: Notice;
  readonly auditNumber: number;
}

const CURSOR = "notices.audit-cursor";
const PAGE = 200;
const MOVES_MAX = 100;

/**
 * Finds what is new since it was asked last. What the audit log holds is not lost over a restart, because the place up to which it was told is
 * kept; problems, racks and VIP moves are compared with what was there at the start.
 */
export class NoticeSource {
  readonly #ports: NoticeSourcePorts;
  #read: number;
  #moves: number;
  #state: NoticedState;

  private constructor(ports: NoticeSourcePorts, read: number, moves: number) {
    this.#ports = ports;
    this.#read = read;
    this.#moves = moves;
    this.#state = stateOf(ports);
  }

  static async open(ports: NoticeSourcePorts): Promise<NoticeSource> {
    const { audit, settings } = ports.store;
    const kept = await settings.get(CURSOR);
    const read = kept === null ? await lastAuditNumber(audit) : Number(kept);
    if (kept === null) await settings.set(CURSOR, String(read));
    const [newest] = await ports.vipMoves({ address: null, after: null, limit: 1 });
    return new NoticeSource(ports, read, newest?.number ?? 0);
  }

  async next(): Promise<readonly SourcedNotice[]> {
    const found: SourcedNotice[] = [];
    const { store, clock } = this.#ports;
    for (const entry of await store.audit.list(this.#read, PAGE)) {
      found.push({ notice: auditNotice(entry), auditNumber: entry.number });
      this.#read = entry.number;
    }
    const state = stateOf(this.#ports);
    const others = [...noticesBetween(this.#state, state, isoTime(clock.now())), ...(await this.#vipMoves())];
    this.#state = state;
    return [...found, ...others.map((notice) => ({ notice, auditNumber: 0 }))];
  }

  /** Everything of the audit log up to that number has been told. */
  async told(auditNumber: number): Promise<void> {
    await this.#ports.store.settings.set(CURSOR, String(auditNumber));
  }

  async #vipMoves(): Promise<readonly Notice[]> {
    const moves = await this.#ports.vipMoves({ address: null, after: null, limit: MOVES_MAX });
    const fresh = moves.filter(({ number }) => number > this.#moves).toReversed();
    this.#moves = fresh.at(-1)?.number ?? this.#moves;
    return fresh.map(({ address, at, from, number, site, to }) => ({
      id: `vip-move-${number}`,
      type: "vip-moved",
      at: isoTime(at),
      actor: null,
      subject: address,
      detail: { site, from, to },
    }));
  }
}

function stateOf({ problems, racks }: NoticeSourcePorts): NoticedState {
  return { problems: problems(), racks: racks().map(({ connected, id, name }) => ({ connected, id, name })) };
}
