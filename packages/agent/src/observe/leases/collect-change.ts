import { parseIpAddress, toLeaseReport, type IpAddress, type LeaseReport, type LeaseTable } from "@berth/core";
import type { LeaseChange } from "./model.js";

/** What the table says of these keys at that time (ms since 1970). Delegated prefixes are not addresses and are left out. */
export function collectChange(table: LeaseTable, keys: readonly string[], now: number): Pick<LeaseChange, "upserts" | "gone"> {
  const upserts: LeaseReport[] = [];
  const gone: IpAddress[] = [];
  for (const key of keys) {
    const lease = table.get(key);
    const report = lease === null ? null : toLeaseReport(lease, now);
    if (report !== null) upserts.push(report);
    else if (lease === null) {
      const address = parseIpAddress(key);
      if (address !== null) gone.push(address);
    }
  }
  return { upserts, gone };
}

/**
 * The same, with reports that are only made when somebody reads them, within the call: a rack's first table has tens of thousands, and who takes a snapshot of his own,
 * or wants to know no more than that there is something new, needs none.
 */
export class AnnouncedChange implements LeaseChange {
  readonly keys: readonly string[];
  readonly reset: boolean;
  readonly #table: LeaseTable;
  readonly #now: number;
  #made: ReturnType<typeof collectChange> | null = null;

  constructor(table: LeaseTable, keys: readonly string[], { reset, now }: { readonly reset: boolean; readonly now: number }) {
    this.#table = table;
    this.keys = keys;
    this.reset = reset;
    this.#now = now;
  }

  get upserts(): LeaseChange["upserts"] {
    return this.#reports().upserts;
  }

  get gone(): LeaseChange["gone"] {
    return this.#reports().gone;
  }

  #reports(): ReturnType<typeof collectChange> {
    return (this.#made ??= collectChange(this.#table, this.keys, this.#now));
  }
}
