import type { Allocation, KeptAnswer, Machine, NameRecord, Quarantine, Reservation, Subnet } from "./model.js";

interface Row<Table extends string, Record> {
  readonly table: Table;
  /** Null where the record is new. */
  readonly before: Record | null;
  /** Null where the record goes. */
  readonly after: Record | null;
}

/**
 * One record of the ledger before and after: what a decision answers, what memory applies, what the store writes and what another coordinator
 * follows. Swapping `before` and `after` undoes it.
 */
export type LedgerChange =
  | Row<"subnet", Subnet>
  | Row<"machine", Machine>
  | Row<"allocation", Allocation>
  | Row<"quarantine", Quarantine>
  | Row<"reservation", Reservation>
  | Row<"record", NameRecord>
  | Row<"answer", KeptAnswer>
  /** The number the next declared subnet gets; only ever grows, so that a number is never used twice. */
  | { readonly table: "next-subnet"; readonly before: number; readonly after: number };

/** All records of a ledger. */
export interface LedgerContent {
  readonly subnets: readonly Subnet[];
  readonly machines: readonly Machine[];
  readonly allocations: readonly Allocation[];
  readonly quarantines: readonly Quarantine[];
  readonly reservations: readonly Reservation[];
  readonly records: readonly NameRecord[];
  readonly answers: readonly KeptAnswer[];
  readonly nextSubnetId: number;
}
