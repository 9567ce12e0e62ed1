import type { Allocation, LedgerChange } from "@berth/core";

export interface UnverifiedScanPorts {
  /** One after the other, over as many turns as it takes. */
  eachAllocation(): Iterable<Allocation>;
  isUnverified(allocation: Allocation): boolean;
}

/** The newest allocations are looked at in every pass, and so many more of the others each time. */
const NEWEST = 512;
const OTHERS = 2_048;
/** Found and not yet verified; with more, the scan waits until some are. */
const PENDING_MAX = 1_024;

/** Finds allocations that no probe has seen, a bounded number in each pass, so that a ledger of a million is walked through slowly and never at once. */
export class UnverifiedScan {
  private readonly ports: UnverifiedScanPorts;
  private pending = new Map<string, Allocation>();
  /** Made since the start, oldest first. */
  private readonly newest = new Map<string, Allocation>();
  private rest: Iterator<Allocation, undefined> | null = null;

  constructor(ports: UnverifiedScanPorts) {
    this.ports = ports;
  }

  /** What was committed: an allocation that is gone or another is waited for no longer. */
  note(changes: readonly LedgerChange[]): void {
    for (const change of changes) {
      if (change.table !== "allocation") continue;
      if (change.before !== null) this.forget(change.before.id);
      if (change.after !== null) this.newest.set(change.after.id, change.after);
    }
    for (const id of this.newest.keys()) {
      if (this.newest.size <= NEWEST) break;
      this.newest.delete(id);
    }
  }

  /** All may be other than they were. */
  restart(): void {
    this.pending.clear();
    this.newest.clear();
    this.rest = null;
  }

  /** Those that wait to be probed now. */
  pass(): readonly Allocation[] {
    const kept = [...this.pending.values()].filter((allocation) => this.ports.isUnverified(allocation));
    this.pending = new Map(kept.map((allocation) => [allocation.id, allocation]));
    for (const allocation of this.newest.values()) this.look(allocation);
    for (let looked = 0; looked < OTHERS; looked++) {
      this.rest ??= this.ports.eachAllocation()[Symbol.iterator]();
      const next = this.rest.next();
      if (next.done === true) {
        this.rest = null;
        break;
      }
      this.look(next.value);
    }
    return [...this.pending.values()];
  }

  private forget(id: string): void {
    this.pending.delete(id);
    this.newest.delete(id);
  }

  private look(allocation: Allocation): void {
    if (this.pending.size < PENDING_MAX && this.ports.isUnverified(allocation)) this.pending.set(allocation.id, allocation);
  }
}
