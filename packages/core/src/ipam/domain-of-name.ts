import type { LedgerState } from "./ledger-state.js";

/** The closest domain of a declared subnet at or above a name; null when the name is in none. */
export function domainOfName(state: LedgerState, name: string): string | null {
  for (let start = 0; ; ) {
    const origin = name.slice(start);
    if (state.subnetsByDomain.of(origin).length > 0) return origin;
    const dot = name.indexOf(".", start);
    if (dot < 0) return null;
    start = dot + 1;
  }
}
