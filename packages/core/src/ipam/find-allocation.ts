import { parseIpAddress } from "../address/ip.js";
import { foldName } from "../names/host-name.js";
import { accepted, refused, type Result } from "../problem.js";
import type { LedgerState } from "./ledger-state.js";
import type { Allocation } from "./model.js";

/** The allocation that an operator means: by id, address, or full name. An address that several sites have needs the id. */
export function findAllocation(state: LedgerState, reference: string): Result<Allocation> {
  const address = parseIpAddress(reference);
  const found = address === null ? state.allocations.get(reference) : undefined;
  const named = found ?? (address === null ? state.allocationByName.get(foldName(reference)) : undefined);
  if (named !== undefined) return accepted(named);
  const all = address === null ? [] : [...state.spaces.values()].flatMap((space) => space.allocations.get(address) ?? []);
  const [only, ...more] = all;
  const shown = reference.replace(/[^\x20-\x7e]/g, "?").slice(0, 80);
  if (only === undefined) {
    const message = `there is no allocation '${shown}'`;
    return refused({ code: "allocation-unknown", at: "allocation", message, remedy: "list them with `berth allocation list`" });
  }
  if (more.length === 0) return accepted(only);
  const message = `${shown} is given in ${all.length} sites: ${all.map(({ id }) => id).join(", ")}`;
  return refused({ code: "allocation-ambiguous", at: "allocation", message, remedy: "use the id" });
}
