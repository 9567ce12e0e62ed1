import type { HardwareAddress } from "../address/hardware.js";
import { accepted, refused, type Problem, type Result } from "../problem.js";
import { checkWishedLabel, chosenName, nameTaken, premadeName, wishedLabel } from "./allocation-name.js";
import type { LedgerChange } from "./change.js";
import { checkNics } from "./check-nics.js";
import { describeHolder } from "./check-subnet.js";
import type { Decision } from "./decision.js";
import { findMachine } from "./find-machine.js";
import type { LedgerState } from "./ledger-state.js";
import { knownMachines, onTwoMachines, takeNics } from "./match-machine.js";
import type { Allocation, Machine } from "./model.js";
import type { Observed } from "./observed.js";

export interface MachineChange {
  /** Null gives its addresses their pre-made names back; left out keeps the name. */
  readonly name?: string | null;
  readonly addNics?: readonly HardwareAddress[];
  readonly removeNics?: readonly HardwareAddress[];
}

/**
 * Renames a machine, gives it NICs or takes some away, all in one step. Its addresses stay. A new NIC is served the machine's own addresses as the
 * others are (a bond); the last NIC, and one that alone is served an address, stay.
 */
export function changeMachine(
  state: LedgerState,
  request: { readonly machine: string; readonly change: MachineChange },
  observed: Observed,
): Result<Decision<Machine>> {
  const found = findMachine(state, request.machine);
  if (!found.ok) return found;
  const before = found.value;
  const { name, addNics = [], removeNics = [] } = request.change;
  if (before.state === "released") return refused(released(before));
  const label = name === undefined ? before.name : wishedLabel(name);
  const nics = [...new Set([...before.nics, ...addNics])].filter((nic) => !removeNics.includes(nic));
  const added = nics.filter((nic) => !before.nics.includes(nic));
  const problems = [...checkRemoved(before, removeNics, addNics), ...checkNics(nics), ...checkWishedLabel(label)];
  const others = knownMachines(state, added);
  const inUse = others.filter(({ state: now }) => now !== "released");
  if (inUse.length > 0) problems.push(...onTwoMachines([before, ...inUse], [...before.nics, ...added]));
  if (problems.length > 0) return refused(...problems);
  const after: Machine = { ...before, name: label, nics };
  const allocations = changeAllocations(state, { before, after, added, removed: removeNics }, observed);
  if (!allocations.ok) return allocations;
  const same = JSON.stringify(before) === JSON.stringify(after);
  const changes: LedgerChange[] = same ? [] : [...takeNics(others, added), { table: "machine", before, after }];
  return accepted({ value: after, changes: [...changes, ...allocations.value] });
}

function released({ id, name }: Machine): Problem {
  const message = `${name ?? id} is released`;
  return { code: "machine-released", at: "machine", message, remedy: "enroll it again first" };
}

function checkRemoved(machine: Machine, remove: readonly HardwareAddress[], add: readonly HardwareAddress[]): Problem[] {
  const foreign = remove.filter((nic) => !machine.nics.includes(nic));
  const both = remove.filter((nic) => add.includes(nic));
  const who = machine.name ?? machine.id;
  return [
    ...foreign.map((nic) => ({ code: "nic-unknown", at: "removeNics", message: `${who} has no NIC ${nic}` })),
    ...both.map((nic) => ({ code: "nic-added-and-removed", at: "removeNics", message: `${nic} is to be added and removed` })),
  ];
}

interface Turned {
  readonly before: Machine;
  readonly after: Machine;
  readonly added: readonly HardwareAddress[];
  readonly removed: readonly HardwareAddress[];
}

function changeAllocations(state: LedgerState, turned: Turned, observed: Observed): Result<LedgerChange[]> {
  const { before: machine, after: next, added, removed } = turned;
  const changes: LedgerChange[] = [];
  const problems: Problem[] = [];
  const named = new Set<string>();
  const oldestFirst = state.allocationsOf(machine.id).toSorted((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
  for (const before of oldestFirst) {
    if (before.kind === "vip") continue;
    const kept = before.nics.filter((nic) => !removed.includes(nic));
    const nics = before.kind === "machine" ? [...kept, ...added] : kept;
    if (before.nics.length > 0 && nics.length === 0) problems.push(carries(before));
    const name =
      before.kind === "machine" && machine.name !== next.name ? renamed(state, { before, next, named }, observed) : null;
    if (name !== null && !name.ok) problems.push(...name.problems);
    const after: Allocation = { ...before, nics, name: name?.ok === true ? name.value : before.name };
    if (String(before.nics) !== String(nics) || before.name !== after.name) changes.push({ table: "allocation", before, after });
  }
  return problems.length > 0 ? refused(...problems) : accepted(changes);
}

/** The machine's oldest address in each zone carries its name, the others their pre-made ones. */
function renamed(
  state: LedgerState,
  { before, next, named }: { readonly before: Allocation; readonly next: Machine; readonly named: Set<string> },
  observed: Observed,
): Result<string> {
  const { subnet } = state.spaceOf(before.subnetId);
  if (next.name === null || named.has(subnet.domain)) return accepted(premadeName(before.address, subnet));
  named.add(subnet.domain);
  const name = chosenName(state, { label: next.name, subnet, address: before.address }, observed);
  if (!name.ok) return name;
  const holder = state.allocationByName.get(name.value);
  if (holder === undefined || holder.id === before.id) return name;
  return refused(nameTaken(name.value, `${holder.address} (${describeHolder(holder)})`));
}

function carries({ address, nics }: Allocation): Problem {
  const message = `${address} is served to ${nics.join(", ")} alone`;
  const remedy = "add the machine's other NIC first, or give the address back";
  return { code: "nic-in-use", at: "removeNics", message, remedy };
}
