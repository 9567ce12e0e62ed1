import { importedViewSchema, type ImportRow, type ImportedView, type Problem } from "@berth/core";
import { CliFailure, EXIT_REFUSED } from "../cli-failure.js";
import type { ApiClient } from "../connection/api-client.js";

export type ImportAnswer =
  | { readonly kind: "accepted"; readonly view: ImportedView }
  | { readonly kind: "refused"; readonly problems: readonly Problem[] };

/** A coordinator on a slow disk may take that long for the largest import. */
const SILENCE_MS = 300_000;

/** One request for all rows. A refusal comes back with the places of the rows in their files; everything else fails as always. */
export async function sendImport(client: ApiClient, rows: readonly ImportRow[], dryRun: boolean): Promise<ImportAnswer> {
  const machines = rows.map(({ address, name, nics, subnet }) => ({ nics, name, address, subnet }));
  try {
    const path = `/machines/import${dryRun ? "?dry_run=true" : ""}`;
    const call = { method: "POST", path, body: { machines }, answer: importedViewSchema, silenceMs: SILENCE_MS } as const;
    return { kind: "accepted", view: await client.call(call) };
  } catch (error) {
    if (!(error instanceof CliFailure) || error.exitCode !== EXIT_REFUSED) throw error;
    return { kind: "refused", problems: error.problems.map((problem) => ({ ...problem, at: placeOf(problem.at, rows) })) };
  }
}

/** `machines[12].address` as `hosts.csv:14 address`. */
function placeOf(at: string, rows: readonly ImportRow[]): string {
  const found = /^machines\[(\d+)\]\.?(.*)$/.exec(at);
  const row = rows[Number(found?.[1] ?? -1)];
  if (row === undefined) return at;
  const field = found?.[2] ?? "";
  return field === "" ? row.at : `${row.at} ${field}`;
}
