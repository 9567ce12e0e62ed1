import { importedViewSchema, type ImportRow, type ImportedView, type Problem, type SubnetCreate } from "@berth/core";
import { CliFailure, EXIT_REFUSED } from "../cli-failure.js";
import type { ApiClient } from "../connection/api-client.js";

export type ImportAnswer =
  | { readonly kind: "accepted"; readonly view: ImportedView }
  | { readonly kind: "refused"; readonly problems: readonly Problem[] };

/** A coordinator on a slow disk may take that long for the largest import. */
const SILENCE_MS = 300_000;

/** What one import asks for; each part knows the place that it comes from. */
export interface ImportOrder {
  readonly subnets: readonly { readonly at: string; readonly request: SubnetCreate }[];
  readonly rows: readonly ImportRow[];
  readonly dryRun: boolean;
}

/** One request for all of it. A refusal comes back with the places in the files; everything else fails as always. */
export async function sendImport(client: ApiClient, order: ImportOrder): Promise<ImportAnswer> {
  const machines = order.rows.map(({ address, name, nics, subnet }) => ({ nics, name, address, subnet }));
  const body = { subnets: order.subnets.map(({ request }) => request), machines };
  try {
    const path = `/machines/import${order.dryRun ? "?dry_run=true" : ""}`;
    const call = { method: "POST", path, body, answer: importedViewSchema, silenceMs: SILENCE_MS } as const;
    return { kind: "accepted", view: await client.call(call) };
  } catch (error) {
    if (!(error instanceof CliFailure) || error.exitCode !== EXIT_REFUSED) throw error;
    return { kind: "refused", problems: error.problems.map((problem) => ({ ...problem, at: placeOf(problem.at, order) })) };
  }
}

/** `machines[12].address` as `hosts.csv:14 address`. */
function placeOf(at: string, { rows, subnets }: ImportOrder): string {
  const [, list, index, field = ""] = /^(machines|subnets)\[(\d+)\]\.?(.*)$/.exec(at) ?? [];
  const part = (list === "subnets" ? subnets : rows)[Number(index ?? -1)];
  if (part === undefined) return at;
  return field === "" ? part.at : `${part.at} ${field}`;
}
