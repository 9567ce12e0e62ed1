import type { Allocation } from "@berth/core";

export interface UnverifiedScanPorts {
  /** In the order in which they were made. */
  allocations(): readonly Allocation[];
  isUnverified(allocation: Allocation): boolean;
}

/** Allocations looked at in one pass: the newest, and so many more of the others each time. */
const NEWEST = 512;
const OTHERS = 2_048;
/** Found and not yet verified; with more, the scan waits until some are. */
const PENDING_MAX = 1_024;

/** Finds allocations that no probe has seen, a bounded number in each pass, so that a ledger of a million is walked through slowly and never at once. */
export class UnverifiedScan {
  private readonly ports: UnverifiedScanPorts;
  private pending = new Map<string, Allocation>();
  private next = 0;

  constructor(ports: UnverifiedScanPorts) {
    this.ports = ports;
  }

  /** Those that wait to be probed now. */
  pass(): readonly Allocation[] {
    const all = this.ports.allocations();
    const kept = [...this.pending.values()].filter((allocation) => this.ports.isUnverified(allocation));
    this.pending = new Map(kept.map((allocation) => [allocation.id, allocation]));
    for (const allocation of all.slice(-NEWEST)) this.look(allocation);
    const first = this.next < all.length ? this.next : 0;
    const part = all.slice(first, first + OTHERS);
    for (const allocation of part) this.look(allocation);
    this.next = first + part.length;
    return [...this.pending.values()];
  }

  private look(allocation: Allocation): void {
    if (this.pending.size < PENDING_MAX && this.ports.isUnverified(allocation)) this.pending.set(allocation.id, allocation);
  }
}
