import type { LedgerChange } from "./change.js";

/** What a command decided: the answer, and the records it changes. No changes: it was so already. */
export interface Decision<T> {
  readonly value: T;
  readonly changes: readonly LedgerChange[];
}
