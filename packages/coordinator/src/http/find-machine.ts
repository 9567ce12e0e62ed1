import {
  findMachineView,
  parseHardwareAddress,
  parseIpAddress,
  viewMachine,
  viewSighting,
  type Allocation,
  type HardwareAddress,
  type IpAddress,
  type Machine,
  type MachineView,
} from "@berth/core";
import type { ApiPorts } from "./ports.js";

const ETHERNET_CHARACTERS = 17;

type Sources = Pick<ApiPorts, "clock" | "ledger" | "leasesOf" | "leasesAt">;

/**
 * The machine or sighting that a reference means: an id, a chosen name, a NIC, or an address that it has by allocation or by a lease in use. Looks at what has any of
 * them alone; which of those is meant is decided as in the list of all. Null when nothing matches.
 */
export function findMachine(sources: Sources, reference: string): MachineView | null {
  const { clock, ledger, leasesOf } = sources;
  const name = reference.toLowerCase();
  const byId = ledger.machine(name);
  if (byId !== null) return oneMachine(sources, byId, ledger.allocationsOf(byId.id));
  // In any usual spelling.
  const address = parseIpAddress(reference);
  const nic = address === null ? ethernetAddress(reference) : null;
  const nics = [...new Set([...(nic === null ? [] : [nic]), ...(address === null ? [] : nicsLeasing(sources, address))])];
  const strangers = nics.filter((each) => ledger.machineWith(each) === null);
  const views = [
    ...candidates(sources, { address, name, nics }).map((machine) =>
      oneMachine(sources, machine, ledger.allocationsOf(machine.id)),
    ),
    ...strangers.flatMap((each) => viewSighting(each, leasesOf(each), clock.now()) ?? []),
  ];
  return findMachineView(views, address ?? nic ?? name);
}

/** What has any of these, oldest first. */
function candidates(
  { ledger }: Sources,
  {
    address,
    name,
    nics,
  }: { readonly address: IpAddress | null; readonly name: string; readonly nics: readonly HardwareAddress[] },
): readonly Machine[] {
  const allocations = address === null ? ledger.allocationsNamed(name) : ledger.allocationsAt(address);
  const holders = allocations.flatMap(({ machineId, owners }) => (machineId === null ? owners : [machineId]));
  const found = [
    ...ledger.machinesNamed(name),
    ...nics.flatMap((nic) => ledger.machineWith(nic) ?? []),
    ...holders.flatMap((id) => ledger.machine(id) ?? []),
  ];
  const each = new Map(found.map((machine) => [machine.id, machine]));
  return [...each.values()].sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
}

export function oneMachine(
  { clock, leasesOf, ledger }: Pick<Sources, "clock" | "leasesOf" | "ledger">,
  machine: Machine,
  allocations: readonly Allocation[],
): MachineView {
  return viewMachine(machine, { allocations, subnets: ledger.subnets(), leasesOf, nowMs: clock.now() });
}

function nicsLeasing({ leasesAt }: Sources, address: IpAddress): readonly HardwareAddress[] {
  return leasesAt(address).flatMap(({ lease }) => lease.hardwareAddress ?? []);
}

/** Only six octets and more count: a short one could be meant as a name (`be-ef`). */
function ethernetAddress(text: string): HardwareAddress | null {
  const address = parseHardwareAddress(text);
  return address !== null && address.length >= ETHERNET_CHARACTERS ? address : null;
}
