import { parseIpAddress } from "../address/ip.js";
import { toALabels } from "../names/a-label.js";
import { foldName } from "../names/host-name.js";
import { accepted, refused, type Result } from "../problem.js";
import { checkRecord, type WishedRecord } from "./check-record.js";
import type { Decision } from "./decision.js";
import type { LedgerState } from "./ledger-state.js";
import type { NameRecord, NameRecordType } from "./model.js";
import type { Observed } from "./observed.js";

const RECORDS_MAX = 65_536;

export interface RecordRequest {
  /** Fully qualified, in the domain of a declared subnet. */
  readonly name: string;
  readonly type: NameRecordType;
  readonly value: string;
}

export interface Recorded {
  readonly record: NameRecord;
  /** False when the same record was there before. */
  readonly created: boolean;
}

/** Puts a record of an operator's into a zone. The same record again is the same record. */
export function addRecord(
  state: LedgerState,
  request: RecordRequest,
  context: { readonly observed: Observed; readonly now: number; readonly id: string },
): Result<Decision<Recorded>> {
  const wished = stored(request);
  const same = state.recordsByName.of(wished.name).find(({ type, value }) => type === wished.type && value === wished.value);
  if (same !== undefined) return accepted({ value: { record: same, created: false }, changes: [] });
  const problems = checkRecord(state, wished, context.observed);
  if (problems.length > 0) return refused(...problems);
  if (state.records.size >= RECORDS_MAX) {
    const message = `the ledger has ${RECORDS_MAX} records, its limit`;
    return refused({ code: "records-too-many", at: "name", message, remedy: "remove records that are no longer used" });
  }
  const record: NameRecord = { id: context.id, ...wished, createdAt: context.now };
  return accepted({ value: { record, created: true }, changes: [{ table: "record", before: null, after: record }] });
}

/** Takes a record away, by id, or by name where the name has one record only. */
export function removeRecord(state: LedgerState, reference: string): Result<Decision<NameRecord>> {
  const byId = state.records.get(reference);
  const found = byId === undefined ? state.recordsByName.of(foldName(toALabels(reference))) : [byId];
  const [before, ...more] = found;
  const shown = reference.replace(/[^\x20-\x7e]/g, "?").slice(0, 80);
  if (before === undefined) {
    const message = `there is no record '${shown}'`;
    return refused({ code: "record-unknown", at: "record", message, remedy: "list them with `berth name list`" });
  }
  if (more.length > 0) {
    const choices = found.map(({ id, type, value }) => `${id} (${type} ${value})`).join(", ");
    const message = `${shown} has ${found.length} records: ${choices}`;
    return refused({ code: "record-ambiguous", at: "record", message, remedy: "use the id" });
  }
  return accepted({ value: before, changes: [{ table: "record", before, after: null }] });
}

function stored({ name, type, value }: RecordRequest): WishedRecord {
  const target = type === "CNAME" ? foldName(toALabels(value)) : type === "TXT" ? value : (parseIpAddress(value.trim()) ?? value);
  return { name: foldName(toALabels(name)), type, value: target };
}
