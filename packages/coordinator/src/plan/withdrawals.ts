import type { RackView } from "@berth/core";

/** Kept of a rack; what is older counts as withdrawn when the oldest kept one was, which is later and therefore safe. */
const GENERATIONS_MAX = 64;

/** A release may be decided this long before its commit is seen by a plan that is made meanwhile. */
const COMMIT_MAX_MS = 10_000;

interface Generation {
  readonly generation: number;
  /** The last time at which the ledger as it was then gave exactly this generation. */
  currentAt: number;
  /** When the rack was first seen to run it; null before. */
  runningAt: number | null;
}

/**
 * Which changes of the ledger each rack is known to run. A rack that is cut off goes on serving a machine that was released meanwhile, for as
 * long as it is cut off; so the rest of an address counts from when its racks took over the release. Times in milliseconds since 1970.
 */
export class Withdrawals {
  private readonly racks = new Map<string, Generation[]>();

  /** The ledger as read at `now` gives this generation for the rack. */
  noteCurrent(rackId: string, generation: number, now: number): void {
    const known = this.racks.get(rackId) ?? [];
    this.racks.set(rackId, known);
    const newest = known.at(-1);
    if (newest?.generation === generation) newest.currentAt = now;
    else known.push({ generation, currentAt: now, runningAt: null });
    if (known.length > GENERATIONS_MAX) known.shift();
  }

  noteRunning(rack: Pick<RackView, "id" | "accepted" | "daemons">, now: number): void {
    const running = runningGeneration(rack);
    for (const entry of this.racks.get(rack.id) ?? []) if (entry.generation <= running) entry.runningAt ??= now;
  }

  /** When the rack was first known to run a plan that was made after that release; null while it is not. */
  withdrawnAt(rackId: string, releasedAt: number): number | null {
    const taken = this.racks
      .get(rackId)
      ?.find(({ currentAt, runningAt }) => currentAt > releasedAt + COMMIT_MAX_MS && runningAt !== null);
    return taken === undefined ? null : Math.max(taken.runningAt ?? 0, releasedAt);
  }
}

/** What each dhcpd of the rack runs: on its disk is not enough, a dhcpd that does not take it goes on with the old one. */
function runningGeneration({ accepted, daemons }: Pick<RackView, "accepted" | "daemons">): number {
  const servers = daemons.filter(({ name }) => name === "dhcpd" || name === "dhcpd6");
  return servers.length === 0 ? 0 : Math.min(accepted, ...servers.map(({ generation }) => generation ?? 0));
}
