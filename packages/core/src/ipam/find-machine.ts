import { parseHardwareAddress } from "../address/hardware.js";
import { foldName } from "../names/host-name.js";
import { accepted, refused, type Problem, type Result } from "../problem.js";
import type { LedgerState } from "./ledger-state.js";
import type { Machine } from "./model.js";

const TEXT_MAX = 253;

/** The machine that an operator means: by id, NIC, chosen name, or the full name of one of its addresses. */
export function findMachine(state: LedgerState, text: string): Result<Machine> {
  const byId = state.machines.get(text);
  if (byId !== undefined) return accepted(byId);
  const nic = parseHardwareAddress(text);
  const machines = nic === null ? byName(state, foldName(text)) : [state.machineOfNic.get(nic) ?? []].flat();
  const [only, ...more] = machines;
  if (only === undefined) return refused(unknownMachine(text));
  if (more.length === 0) return accepted(only);
  const message = `${machines.length} machines are called '${text}': ${machines.map(({ id }) => id).join(", ")}`;
  return refused({ code: "machine-ambiguous", at: "machine", message, remedy: "use the id or a NIC" });
}

function byName(state: LedgerState, name: string): readonly Machine[] {
  const allocation = state.allocationByName.get(name);
  if (allocation !== undefined) return [state.machines.get(allocation.machineId ?? "") ?? []].flat();
  const called = state.machinesByName.of(name);
  const current = called.filter((machine) => machine.state !== "released");
  return current.length > 0 ? current : called;
}

function unknownMachine(text: string): Problem {
  const shown = text.replace(/[^\x20-\x7e]/g, "?").slice(0, TEXT_MAX);
  const message = `there is no machine '${shown}'`;
  return { code: "machine-unknown", at: "machine", message, remedy: "list the machines with `berth machine list`" };
}
