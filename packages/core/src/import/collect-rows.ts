import type { Problem } from "../problem.js";
import { IMPORT_ROWS_MAX, readRow, type ImportOptions, type ImportReading, type ImportRow, type RowText } from "./import-row.js";

/** Gathers what a reader finds, up to the limit of one import. */
export class RowCollector {
  readonly rows: ImportRow[] = [];
  readonly refusals: Problem[] = [];
  readonly skipped: Problem[] = [];
  private readonly options: ImportOptions;

  constructor(options: ImportOptions) {
    this.options = options;
  }

  get isFull(): boolean {
    return this.rows.length + this.refusals.length >= IMPORT_ROWS_MAX;
  }

  add(text: RowText): void {
    const row = readRow(text, this.options);
    if (row.ok) this.rows.push(row.value);
    else this.refusals.push(...row.problems);
  }

  /** For the reader that has more and stops here. */
  refuseRest(at: string): void {
    const message = `more than ${IMPORT_ROWS_MAX} rows; the rest was not read`;
    this.refusals.push({ code: "import-too-large", at, message, remedy: "import it in parts, a subnet each" });
  }

  reading(): ImportReading {
    const { refusals, rows, skipped } = this;
    return { rows, refusals, skipped };
  }
}
