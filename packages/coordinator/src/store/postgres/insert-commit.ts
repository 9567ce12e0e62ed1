import type { Allocation, KeptAnswer, Machine } from "@berth/core";
import { CompiledQuery } from "kysely";
import { addressBlob } from "../address-blob.js";
import { keptAnswerRow, machineRow, nicRows } from "../ledger-rows.js";
import { auditRow } from "../sqlite-audit.js";
import type { AuditEntry, CommitContent } from "../store.js";
import type { Position } from "./load-ledger.js";

/** Columns that come in the rows; those of the place of an allocation come from its subnet. */
const COLUMNS = {
  machine: ["id", "name", "state", "created_at"],
  nic: ["hardware_address", "machine_id", "position"],
  allocation: [
    "id",
    "kind",
    "subnet_id",
    "address",
    "machine_id",
    "nics",
    "owner_key",
    "name",
    "owners",
    "delivery",
    "created_at",
  ],
  kept_answer: ["actor", "key", "request", "answer", "at"],
  audit: ["at", "actor", "action", "subject", "detail"],
} as const;
const PLACE = ["site", "family", "first_address", "last_address"] as const;

type Table = keyof typeof COLUMNS;
type Rows = { [Name in Exclude<Table, "audit">]: Partial<Record<(typeof COLUMNS)[Name][number], unknown>>[] };

/** Answers how many rows of the ledger were taken: one or none. */
export type InsertCommit = CompiledQuery<{ readonly taken: number }>;

const TELLING = "returning case when $6::text is not null then pg_notify($6, revision::text) end";
/** Parameters before those of the tables. */
const CHAIN_PARAMETERS = 6;
const texts = new Map<string, string>();

/**
 * A commit that only adds machines, allocations and answers, the usual one, as a single statement: it takes the ledger's row,
 * and where that was still where `from` says writes everything and tells of it on the channel, if there is one. One answer to
 * wait for, whatever the number of rows; it says how many rows of the ledger were taken, and where that is none, nothing was
 * written. Null when the commit has other changes.
 */
export function insertCommit(
  { from, next, channel }: { readonly from: Position; readonly next: Position; readonly channel: string | null },
  { changes, audit }: CommitContent,
): InsertCommit | null {
  const rows: Rows = { machine: [], nic: [], allocation: [], kept_answer: [] };
  for (const change of changes) {
    if (change.table === "next-subnet" || change.before !== null || change.after === null) return null;
    if (change.table === "machine") addMachine(rows, change.after);
    else if (change.table === "allocation") addAllocation(rows, change.after);
    else if (change.table === "answer") addAnswer(rows, change.after);
    else return null;
  }
  const added = (Object.keys(rows) as (keyof Rows)[]).filter((table) => rows[table].length > 0);
  const parameters: unknown[] = [next.revision, next.head, from.revision, from.head, JSON.stringify(changes), channel];
  for (const table of added) parameters.push(JSON.stringify(rows[table]));
  if (audit.length === 0) return CompiledQuery.raw(statement(added), parameters);
  parameters.push(`[${audit.map(auditText).join()}]`);
  return CompiledQuery.raw(statement([...added, "audit"]), parameters);
}

/**
 * The detail as it stands and not as text in text, which is longer and is read twice: the server takes what is in place of a
 * text as it is written. What has to be escaped it would refuse there, since it reads escapes, and no text of its can hold some
 * of them.
 */
function auditText(entry: AuditEntry): string {
  const { detail, ...row } = auditRow(entry);
  const isPlain = typeof entry.detail === "object" && entry.detail !== null && !detail.includes("\\u");
  return `${JSON.stringify(row).slice(0, -1)},"detail":${isPlain ? detail : JSON.stringify(detail)}}`;
}

function addMachine(rows: Rows, machine: Machine): void {
  rows.machine.push(machineRow(machine));
  for (const nic of nicRows(machine)) rows.nic.push(nic);
}

function addAllocation(rows: Rows, allocation: Allocation): void {
  rows.allocation.push({
    id: allocation.id,
    kind: allocation.kind,
    subnet_id: allocation.subnetId,
    address: `\\x${addressBlob(allocation.address).toString("hex")}`,
    machine_id: allocation.machineId,
    nics: JSON.stringify(allocation.nics),
    owner_key: allocation.ownerKey,
    name: allocation.name,
    owners: JSON.stringify(allocation.owners),
    delivery: allocation.delivery,
    created_at: allocation.createdAt,
  });
}

function addAnswer(rows: Rows, answer: KeptAnswer): void {
  rows.kept_answer.push(keptAnswerRow(answer));
}

/** One text for each set of tables, so that the server prepares few. */
function statement(tables: readonly Table[]): string {
  const known = texts.get(tables.join());
  if (known !== undefined) return known;
  const parts = [
    "taken as (update ledger set revision = $1, head = $2 where id = 1 and revision = $3 and head = $4 returning revision)",
    `told as (insert into ledger_change (revision, commit_id, parent, changes) select revision, $2, $4, $5 from taken ${TELLING})`,
    ...tables.map((table, index) => `${table}_rows as (${insertInto(table, `$${CHAIN_PARAMETERS + 1 + index}`)})`),
  ];
  const text = `with ${parts.join(", ")} select count(*) as taken from taken, told`;
  texts.set(tables.join(), text);
  return text;
}

function insertInto(table: Table, parameter: string): string {
  const columns = COLUMNS[table].map(quoted).join(", ");
  const given = `json_populate_recordset(null::${table}, ${parameter}::text::json) as given`;
  const from = COLUMNS[table].map((column) => `given.${quoted(column)}`).join(", ");
  const taken = "where exists (select from taken)";
  if (table !== "allocation") return `insert into ${table} (${columns}) select ${from} from ${given} ${taken}`;
  // A subnet that is not there leaves its columns empty, which the table refuses.
  const place = PLACE.map(quoted).join(", ");
  const ofSubnet = PLACE.map((column) => `subnet.${quoted(column)}`).join(", ");
  // The limit keeps the server from joining: it would read all subnets for every commit.
  const subnet = "left join lateral (select * from subnet where subnet.id = given.subnet_id limit 1) as subnet on true";
  return `insert into allocation (${columns}, ${place}, zone) select ${from}, ${ofSubnet}, subnet.domain from ${given} ${subnet} ${taken}`;
}

function quoted(column: string): string {
  return `"${column}"`;
}
