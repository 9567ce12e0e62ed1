import type { IpAddress } from "../address/ip.js";
import { accepted, refused, type Problem, type Result } from "../problem.js";
import { checkWishedLabel, chosenName, nameTaken, premadeName, wishedLabel } from "./allocation-name.js";
import type { LedgerChange } from "./change.js";
import { checkNics } from "./check-nics.js";
import { describeHolder } from "./check-subnet.js";
import { addressWarnings } from "./choose-address.js";
import { chooseSubnet } from "./choose-subnet.js";
import type { Decision } from "./decision.js";
import type { LedgerState } from "./ledger-state.js";
import { matchMachine, type Match } from "./match-machine.js";
import type { Allocation, Machine, Subnet } from "./model.js";
import type { Observed } from "./observed.js";
import { addAllocation, placeAddress } from "./place-address.js";
import type { EnrollRequest } from "./request.js";

export interface Enrollment {
  readonly machine: Machine;
  readonly allocation: Allocation;
  /** False when the machine had this address before. */
  readonly created: boolean;
  /** What an operator should know of the address that was given all the same. */
  readonly warnings?: readonly Problem[];
}

/** What a decision needs from outside the ledger. `now` in milliseconds since 1970; the ids are for new records, unique and unused. */
export interface EnrollContext {
  readonly observed: Observed;
  readonly now: number;
  readonly machineId: string;
  readonly allocationId: string;
}

/**
 * Gives a machine its static address and name in one step. The same request answers the same address again; a specific address that another
 * holds is refused with the holder's name.
 */
export function enrollMachine(state: LedgerState, request: EnrollRequest, context: EnrollContext): Result<Decision<Enrollment>> {
  const nics = [...new Set(request.nics)];
  const wished = wishedLabel(request.name);
  const problems = [...checkNics(nics), ...checkWishedLabel(wished)];
  if (problems.length > 0) return refused(...problems);
  const subnet = chooseSubnet(
    state,
    { subnet: request.subnet ?? null, address: request.address ?? null, nics },
    context.observed,
  );
  if (!subnet.ok) return subnet;
  const match = matchMachine(state, { nics, name: wished, newId: context.machineId, now: context.now });
  if (!match.ok) return match;
  const { machine, changes } = match.value;
  const existing = state
    .allocationsOf(machine.id)
    .find(({ subnetId, kind }) => kind === "machine" && subnetId === subnet.value.id);
  if (existing !== undefined) return keep(existing, match.value, request.address ?? null);
  const allocation = allocate(state, { match: match.value, subnet: subnet.value, address: request.address ?? null }, context);
  if (!allocation.ok) return allocation;
  const warnings = addressWarnings(state.spaceOf(subnet.value.id), allocation.value.address, {
    nics,
    observed: context.observed,
  });
  return accepted({
    value: { machine, allocation: allocation.value, created: true, ...(warnings.length === 0 ? {} : { warnings }) },
    changes: [...changes, ...addAllocation(state, allocation.value)],
  });
}

/** The machine has an address there already: the same again, or a refusal when another one was asked for. */
function keep(existing: Allocation, { machine, changes }: Match, address: IpAddress | null): Result<Decision<Enrollment>> {
  if (address !== null && address !== existing.address) {
    const message = `${describeHolder(existing)} has ${existing.address} in this subnet already`;
    return refused({
      code: "machine-has-address",
      at: "address",
      message,
      remedy: "release the machine first, then enroll it again",
    });
  }
  const nics = [...new Set([...existing.nics, ...machine.nics])];
  if (nics.length === existing.nics.length)
    return accepted({ value: { machine, allocation: existing, created: false }, changes });
  const allocation: Allocation = { ...existing, nics };
  const widened: LedgerChange = { table: "allocation", before: existing, after: allocation };
  return accepted({ value: { machine, allocation, created: false }, changes: [...changes, widened] });
}

function allocate(
  state: LedgerState,
  { match, subnet, address }: { readonly match: Match; readonly subnet: Subnet; readonly address: IpAddress | null },
  context: EnrollContext,
): Result<Allocation> {
  const { machine } = match;
  const asked = { nics: machine.nics, observed: context.observed, now: context.now };
  const chosen = placeAddress(state, { subnet, address }, asked);
  if (!chosen.ok) return chosen;
  const name = nameFor(state, { machine, subnet, address: chosen.value }, context.observed);
  if (!name.ok) return name;
  return accepted({
    id: context.allocationId,
    kind: "machine",
    subnetId: subnet.id,
    address: chosen.value,
    machineId: machine.id,
    nics: machine.nics,
    ownerKey: `machine/${machine.id}/subnet/${subnet.id}`,
    name: name.value,
    owners: [],
    delivery: "both",
    createdAt: context.now,
  });
}

/** The chosen name in the subnet's domain, or the pre-made one. A second address in the same zone keeps its pre-made name. */
function nameFor(
  state: LedgerState,
  { machine, subnet, address }: { readonly machine: Machine; readonly subnet: Subnet; readonly address: IpAddress },
  observed: Observed,
): Result<string> {
  const premade = premadeName(address, subnet);
  if (machine.name === null) return accepted(premade);
  const name = chosenName(state, { label: machine.name, subnet, address }, observed);
  if (!name.ok) return name;
  const holder = state.allocationByName.get(name.value);
  if (holder === undefined) return name;
  if (holder.machineId === machine.id) return accepted(premade);
  return refused(nameTaken(name.value, `${holder.address} (${describeHolder(holder)})`));
}
