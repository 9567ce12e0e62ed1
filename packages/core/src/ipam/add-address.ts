import type { HardwareAddress } from "../address/hardware.js";
import type { IpAddress } from "../address/ip.js";
import { accepted, refused, type Problem, type Result } from "../problem.js";
import { checkWishedLabel, freeName, premadeName, wishedLabel } from "./allocation-name.js";
import { addressWarnings } from "./choose-address.js";
import { chooseSubnet } from "./choose-subnet.js";
import type { Decision } from "./decision.js";
import { findMachine } from "./find-machine.js";
import { keptByKey, ownerKeyProblems, type Allocated, type AllocateContext } from "./keep-allocation.js";
import type { LedgerState } from "./ledger-state.js";
import type { Allocation, Machine, Subnet } from "./model.js";
import { addAllocation, placeAddress } from "./place-address.js";

/** Additional addresses of one machine: containers and the like. */
const ADDITIONAL_MAX = 1024;

export interface AdditionalRequest {
  /** By id, name or NIC. */
  readonly machine: string;
  /** By id or prefix; left out, the machine's own. */
  readonly subnet?: string | null;
  readonly address?: IpAddress | null;
  /** A label in the subnet's domain; left out, the pre-made name. */
  readonly name?: string | null;
  /** The caller's key, unique for the machine: the same key answers the same address. */
  readonly key?: string | null;
  /** `config`, the default: the machine configures it itself. With `dhcp` or `both`, a NIC of its own is given it. */
  readonly delivery?: Allocation["delivery"];
  /** The NIC that DHCP serves it to; left out, the first that has no address there. */
  readonly nic?: HardwareAddress | null;
}

/** Gives a machine one more address. Released with the machine at the latest. */
export function addAddress(
  state: LedgerState,
  request: AdditionalRequest,
  context: AllocateContext,
): Result<Decision<Allocated>> {
  const label = wishedLabel(request.name);
  const problems = [...ownerKeyProblems(request.key), ...checkWishedLabel(label)];
  if (problems.length > 0) return refused(...problems);
  const machine = enrolledMachine(state, request.machine);
  if (!machine.ok) return machine;
  const { id, nics } = machine.value;
  const { address = null, key = null } = request;
  const ownerKey = key === null ? `allocation/${context.allocationId}` : `machine/${id}/additional/${key}`;
  const kept = keptByKey(state, { ownerKey, subnet: request.subnet ?? null, address, label });
  if (kept !== null) return kept;
  const subnet = chooseSubnet(state, { subnet: request.subnet ?? null, address, nics }, context.observed);
  if (!subnet.ok) return subnet;
  const mine = address === null ? undefined : state.spaceOf(subnet.value.id).allocations.get(address);
  if (key === null && mine?.kind === "additional" && mine.machineId === id)
    return accepted({ value: { allocation: mine, created: false }, changes: [] });
  const served = servedNics(state, { machine: machine.value, subnet: subnet.value }, request);
  if (!served.ok) return served;
  const chosen = placeAddress(state, { subnet: subnet.value, address }, { nics, observed: context.observed, now: context.now });
  if (!chosen.ok) return chosen;
  const place = { subnet: subnet.value, address: chosen.value };
  const name =
    label === null ? accepted(premadeName(chosen.value, subnet.value)) : freeName(state, { ...place, label }, context.observed);
  if (!name.ok) return name;
  const allocation: Allocation = {
    id: context.allocationId,
    kind: "additional",
    subnetId: subnet.value.id,
    address: chosen.value,
    machineId: id,
    nics: served.value,
    ownerKey,
    name: name.value,
    owners: [],
    delivery: request.delivery ?? "config",
    createdAt: context.now,
  };
  const space = state.spaceOf(subnet.value.id);
  const warnings = addressWarnings(space, allocation.address, { nics, observed: context.observed });
  const value = { allocation, created: true, ...(warnings.length === 0 ? {} : { warnings }) };
  return accepted({ value, changes: addAllocation(state, allocation) });
}

function enrolledMachine(state: LedgerState, reference: string): Result<Machine> {
  const found = findMachine(state, reference);
  if (!found.ok) return found;
  const { id, name, state: now } = found.value;
  if (now !== "enrolled") {
    const message = `${name ?? id} is ${now}, not enrolled`;
    return refused({ code: "machine-not-enrolled", at: "machine", message, remedy: "enroll it first" });
  }
  const count = state.allocationsOf(id).filter(({ kind }) => kind === "additional").length;
  if (count < ADDITIONAL_MAX) return found;
  const message = `${name ?? id} has ${count} additional addresses, its limit`;
  return refused({ code: "additional-too-many", at: "machine", message, remedy: "give some back first" });
}

/** dhcpd takes one host declaration a NIC and network, so an address that DHCP shall serve needs a NIC that is served none there. */
function servedNics(
  state: LedgerState,
  { machine, subnet }: { readonly machine: Machine; readonly subnet: Subnet },
  { delivery = "config", nic = null }: AdditionalRequest,
): Result<readonly HardwareAddress[]> {
  if (delivery === "config") return nic === null ? accepted([]) : refused(nicWithoutDhcp(nic));
  const busy = new Set(
    state
      .allocationsOf(machine.id)
      .filter((other) => other.subnetId === subnet.id && other.delivery !== "config")
      .flatMap(({ nics }) => nics),
  );
  if (nic !== null && !machine.nics.includes(nic)) {
    const message = `${machine.name ?? machine.id} has no NIC ${nic}`;
    return refused({ code: "nic-unknown", at: "nic", message, remedy: "add it with `berth machine add-nic`" });
  }
  const free = machine.nics.find((own) => !busy.has(own) && (nic === null || own === nic));
  if (free !== undefined) return accepted([free]);
  const message = `${nic ?? `every NIC of ${machine.name ?? machine.id}`} is served an address of ${subnet.prefix} already`;
  return refused({ code: "nic-in-use", at: "nic", message, remedy: "use delivery config: the machine configures it itself" });
}

function nicWithoutDhcp(nic: HardwareAddress): Problem {
  const message = `${nic} is named, but delivery config serves no NIC`;
  return { code: "nic-without-dhcp", at: "nic", message, remedy: "leave the NIC out, or use delivery dhcp" };
}
