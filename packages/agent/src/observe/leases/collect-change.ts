import { parseIpAddress, toLeaseReport, type IpAddress, type LeaseReport, type LeaseTable } from "@berth/core";
import type { LeaseChange } from "./model.js";

/** What the table says of these keys at that time (ms since 1970). Delegated prefixes are not addresses and are left out. */
export function collectChange(table: LeaseTable, keys: readonly string[], now: number): LeaseChange {
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
  return { upserts, gone, keys };
}

/**
 * The whole table as a change. Its reports are only made when somebody reads them, within the call: a rack's first table has tens of thousands,
 * and who takes a snapshot of his own needs none.
 */
export function wholeTable(table: LeaseTable, keys: readonly string[], now: number): LeaseChange {
  let made: LeaseChange | null = null;
  return {
    reset: true,
    keys,
    gone: [],
    get upserts() {
      made ??= collectChange(table, keys, now);
      return made.upserts;
    },
  };
}
