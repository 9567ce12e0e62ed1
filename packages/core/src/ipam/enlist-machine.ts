import type { HardwareAddress } from "../address/hardware.js";
import { accepted, refused, type Result } from "../problem.js";
import { checkWishedLabel, wishedLabel } from "./allocation-name.js";
import { checkNics } from "./check-nics.js";
import type { Decision } from "./decision.js";
import type { LedgerState } from "./ledger-state.js";
import { matchMachine } from "./match-machine.js";
import type { Machine } from "./model.js";

export interface EnlistRequest {
  readonly nics: readonly HardwareAddress[];
  /** The name it shall have when it is enrolled. */
  readonly name?: string | null;
}

export interface Enlisted {
  readonly machine: Machine;
  /** False when these NICs belonged to a machine in use before. */
  readonly created: boolean;
}

/**
 * Writes a machine down without giving it an address: what a sighting alone never does. A machine in use stays what it is and may get more NICs;
 * a released one is enlisted again. `now` in milliseconds since 1970, `machineId` for a new record.
 */
export function enlistMachine(
  state: LedgerState,
  request: EnlistRequest,
  context: { readonly now: number; readonly machineId: string },
): Result<Decision<Enlisted>> {
  const nics = [...new Set(request.nics)];
  const name = wishedLabel(request.name);
  const problems = [...checkNics(nics), ...checkWishedLabel(name)];
  if (problems.length > 0) return refused(...problems);
  const match = matchMachine(state, { nics, name, newId: context.machineId, to: "enlisted", now: context.now });
  if (!match.ok) return match;
  const { machine, changes } = match.value;
  const before = state.machines.get(machine.id);
  return accepted({ value: { machine, created: before === undefined || before.state === "released" }, changes });
}
