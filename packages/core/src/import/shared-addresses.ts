import type { IpAddress } from "../address/ip.js";
import type { ImportReading, ImportRow } from "./import-row.js";

/** Rows that have an address in common become one machine with all their NICs; it keeps the name and the place of the first. */
export function sharedAddresses(reading: ImportReading): ImportReading {
  const byAddress = new Map<IpAddress, number>();
  const rows: ImportRow[] = [];
  for (const row of reading.rows) {
    const known = row.address === null ? undefined : byAddress.get(row.address);
    const first = known === undefined ? undefined : rows[known];
    if (known !== undefined && first !== undefined) {
      rows[known] = { ...first, nics: [...new Set([...first.nics, ...row.nics])] };
      continue;
    }
    if (row.address !== null) byAddress.set(row.address, rows.length);
    rows.push(row);
  }
  return { ...reading, rows };
}
