import type { DesiredState, ZoneNumber } from "@berth/core";
import type { DesiredRecord, SerialRecord } from "../store/store.js";

/** What was planned last and is in the store. */
export class PlanMemory {
  private readonly desired = new Map<string, DesiredRecord>();
  private readonly serials = new Map<string, Map<string, ZoneNumber>>();

  stateOf(rackId: string): DesiredState | null {
    return this.desired.get(rackId)?.state ?? null;
  }

  recordOf(rackId: string): DesiredRecord | null {
    return this.desired.get(rackId) ?? null;
  }

  *states(): Iterable<DesiredState> {
    for (const { state } of this.desired.values()) yield state;
  }

  serialsOf(site: string): ReadonlyMap<string, ZoneNumber> {
    return this.serials.get(site) ?? new Map<string, ZoneNumber>();
  }

  /**
   * The number for a content: null while it is the one the rack was given last. A rack that accepted a higher number than this store knows
   * (the data folder was restored from a backup) gets one above that, else it would refuse every state from now on.
   */
  nextGeneration(rackId: string, isAsLast: boolean, accepted: number): number | null {
    const known = this.desired.get(rackId)?.state.generation ?? 0;
    if (isAsLast && known >= accepted) return null;
    return Math.max(known, accepted) + 1;
  }

  keep(desired: readonly DesiredRecord[], serials: readonly SerialRecord[]): void {
    for (const record of desired) this.desired.set(record.state.rack, record);
    for (const { site, origin, serial, digest } of serials) {
      const ofSite = this.serials.get(site) ?? new Map<string, ZoneNumber>();
      this.serials.set(site, ofSite.set(origin, { serial, digest }));
    }
  }
}
