import type { ImportReading, ImportRow } from "./import-row.js";

export interface ImportWishes {
  /** For rows that name neither address nor subnet. */
  readonly subnet: string | null;
  /** False drops the names: machines get the pre-made names of their addresses. */
  readonly names: boolean;
  /** Leaves out rows that have no address. */
  readonly onlyAddressed: boolean;
}

/** What the operator wants of all rows, applied to them. */
export function finishRows(reading: ImportReading, { names, onlyAddressed, subnet }: ImportWishes): ImportReading {
  const rows: ImportRow[] = [];
  const skipped = [...reading.skipped];
  for (const row of reading.rows) {
    if (onlyAddressed && row.address === null) {
      skipped.push({ code: "without-address", at: row.at, message: `${row.name ?? row.nics[0] ?? ""} has no address` });
      continue;
    }
    const wanted = row.subnet ?? (row.address === null ? subnet : null);
    rows.push({ ...row, name: names ? row.name : null, subnet: wanted });
  }
  return { rows, refusals: reading.refusals, skipped };
}
