import type { IpAddress } from "../address/ip.js";
import { Heap } from "./heap.js";
import type { Quarantine } from "./model.js";

/** The released addresses of one subnet: those that still rest, and those that have rested, longest released first. */
export class RestQueue {
  private readonly current = new Map<IpAddress, Quarantine>();
  /** Both heaps forget lazily: an entry that is no longer `current` is dropped when it comes up. */
  private readonly resting = new Heap<Quarantine>((a, b) => a.until - b.until);
  private readonly rested = new Heap<Quarantine>((a, b) => a.releasedAt - b.releasedAt);

  get size(): number {
    return this.current.size;
  }

  get(address: IpAddress): Quarantine | undefined {
    return this.current.get(address);
  }

  values(): Iterable<Quarantine> {
    return this.current.values();
  }

  add(quarantine: Quarantine): void {
    this.current.set(quarantine.address, quarantine);
    this.resting.push(quarantine);
  }

  remove(address: IpAddress): void {
    this.current.delete(address);
  }

  /** The rested address that was released longest ago and is not refused by `blocked`; null when there is none. `now` in milliseconds. */
  next(now: number, blocked: (quarantine: Quarantine) => boolean): Quarantine | null {
    this.wake(now);
    const skipped: Quarantine[] = [];
    let found: Quarantine | null = null;
    for (let entry = this.rested.pop(); entry !== undefined; entry = this.rested.pop()) {
      if (this.current.get(entry.address) !== entry) continue;
      if (entry.until > now) {
        this.resting.push(entry); // the clock was set back
        continue;
      }
      skipped.push(entry);
      if (blocked(entry)) continue;
      found = entry;
      break;
    }
    for (const entry of skipped) this.rested.push(entry);
    return found;
  }

  /** When the next resting address may be given, in milliseconds; null when none rests. */
  nextEnd(now: number): number | null {
    this.wake(now);
    return this.resting.peek()?.until ?? null;
  }

  private wake(now: number): void {
    for (let entry = this.resting.peek(); entry !== undefined; entry = this.resting.peek()) {
      const stale = this.current.get(entry.address) !== entry;
      if (!stale && entry.until > now) return;
      this.resting.pop();
      if (!stale) this.rested.push(entry);
    }
  }
}
