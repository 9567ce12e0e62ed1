import type { WireRecord } from "@berth/core";

/** What was heard on the wires, kept over a restart. */
export interface WireStore {
  load(): Promise<readonly WireRecord[]>;
  /** Replaces or adds records, and forgets those that are gone, by site and address. */
  save(change: WireChange): Promise<void>;
}

export interface WireChange {
  readonly records: readonly WireRecord[];
  readonly gone: readonly Pick<WireRecord, "site" | "address">[];
}
