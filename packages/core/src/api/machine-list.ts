import type { HardwareAddress } from "../address/hardware.js";
import type { Allocation, Machine, Subnet } from "../ipam/model.js";
import { prefixesById } from "../ipam/prefixes-by-id.js";
import type { RackView } from "../topology/rack-view.js";
import { isoSeconds, isoTime, leaseInUse, reportedLeases, viewLease, type ReportedLease } from "./lease-view.js";
import type { MachineView } from "./machine.js";

/** What the machine list is made of: the ledger's machines and what the racks see. */
export interface MachineSources {
  readonly machines: readonly Machine[];
  readonly allocations: readonly Allocation[];
  readonly subnets: readonly Subnet[];
  readonly racks: readonly RackView[];
  readonly nowMs: number;
}

/** What the view of one machine is made of, none of which grows with the region. */
export interface OneMachineSources {
  /** All that it has, and nobody else's. */
  readonly allocations: readonly Allocation[];
  readonly subnets: readonly Subnet[];
  /** What all racks report of a NIC. */
  readonly leasesOf: (nic: HardwareAddress) => readonly ReportedLease[];
  readonly nowMs: number;
}

/**
 * All machines of the ledger, then the sightings: one for each NIC that has a lease in use and belongs to no machine. A NIC that a
 * released and a living machine share belongs to the living one.
 */
export function listMachines(sources: MachineSources): MachineView[] {
  const owners = nicOwners(sources.machines);
  const sights = sightsByNic(sources.racks);
  const addresses = addressesByMachine(sources);
  const context = { nowMs: sources.nowMs, machineOf: (nic: HardwareAddress) => owners.get(nic)?.id ?? null };
  const views = sources.machines.map((machine) => {
    const own = machine.nics.filter((nic) => owners.get(nic)?.id === machine.id).flatMap((nic) => sights.get(nic) ?? []);
    return viewOf(machine, addresses.get(machine.id) ?? [], seen(own, context));
  });
  for (const [nic, own] of sights) {
    const sighting = owners.has(nic) ? null : viewSighting(nic, own, sources.nowMs);
    if (sighting !== null) views.push(sighting);
  }
  return views;
}

/** The view of a NIC that belongs to no machine, of all that racks report of it; null while it has no lease in use. */
export function viewSighting(nic: HardwareAddress, sights: readonly ReportedLease[], nowMs: number): MachineView | null {
  if (!sights.some((sight) => leaseInUse(sight, nowMs))) return null;
  const sighting = seen(sights, { nowMs, machineOf: () => null });
  return { id: null, state: "sighted", name: null, nics: [nic], addresses: [], ...sighting, createdAt: null };
}

/** The same view of one machine to which its NICs belong, without building the whole list. */
export function viewMachine(machine: Machine, { allocations, leasesOf, nowMs, subnets }: OneMachineSources): MachineView {
  const prefixes = prefixesById(subnets);
  const addresses = allocations.map((allocation) => viewAddress(allocation, prefixes));
  const sights: ReportedLease[] = [];
  for (const nic of machine.nics) sights.push(...leasesOf(nic));
  return viewOf(machine, addresses, seen(sights, { nowMs, machineOf: () => machine.id }));
}

type Seen = Pick<MachineView, "leases" | "rack" | "seenAt">;

function viewOf(machine: Machine, addresses: MachineView["addresses"], { leases, rack, seenAt }: Seen): MachineView {
  const { createdAt, id, name, nics, state } = machine;
  return { id, state, name, nics: [...nics], addresses, leases, rack, seenAt, createdAt: isoTime(createdAt) };
}

/** Finds one by id, chosen name, NIC, or an address it has by allocation or by a lease in use; null when nothing matches. */
export function findMachineView(views: readonly MachineView[], reference: string): MachineView | null {
  return (
    views.find((view) => view.id === reference) ??
    views.find((view) => view.state !== "released" && view.name === reference) ??
    views.find((view) => view.state !== "released" && matchesNicOrAddress(view, reference)) ??
    views.find((view) => view.name === reference || matchesNicOrAddress(view, reference)) ??
    null
  );
}

function matchesNicOrAddress(view: MachineView, reference: string): boolean {
  return (
    view.nics.includes(reference) ||
    view.addresses.some(({ address, name }) => address === reference || name === reference) ||
    view.leases.some(({ address }) => address === reference)
  );
}

/** Which machine a NIC belongs to; a living machine before a released one. */
export function nicOwners(machines: readonly Machine[]): Map<HardwareAddress, Machine> {
  const owners = new Map<HardwareAddress, Machine>();
  for (const machine of machines) {
    for (const nic of machine.nics) {
      const current = owners.get(nic);
      if (current === undefined || current.state === "released") owners.set(nic, machine);
    }
  }
  return owners;
}

function sightsByNic(racks: readonly RackView[]): Map<HardwareAddress, ReportedLease[]> {
  const sights = new Map<HardwareAddress, ReportedLease[]>();
  for (const sight of reportedLeases(racks)) {
    const nic = sight.lease.hardwareAddress;
    if (nic === null) continue;
    const list = sights.get(nic);
    if (list === undefined) sights.set(nic, [sight]);
    else list.push(sight);
  }
  return sights;
}

interface SeenContext {
  readonly nowMs: number;
  readonly machineOf: (nic: HardwareAddress) => string | null;
}

function seen(sights: readonly ReportedLease[], context: SeenContext): Seen {
  const newestFirst = [...sights].sort((a, b) => (b.lease.starts ?? 0) - (a.lease.starts ?? 0));
  const [newest] = newestFirst;
  return {
    leases: newestFirst
      .filter((sight) => leaseInUse(sight, context.nowMs))
      .map(({ rack, lease }) => viewLease(rack, lease, context)),
    rack: newest?.rack.name ?? null,
    seenAt: isoSeconds(newest?.lease.starts ?? null),
  };
}

function addressesByMachine(sources: MachineSources): Map<string, MachineView["addresses"]> {
  const prefixes = prefixesById(sources.subnets);
  const addresses = new Map<string, MachineView["addresses"]>();
  for (const allocation of sources.allocations) {
    const { machineId, owners } = allocation;
    for (const holder of machineId === null ? owners : [machineId]) {
      const list = addresses.get(holder) ?? [];
      list.push(viewAddress(allocation, prefixes));
      addresses.set(holder, list);
    }
  }
  return addresses;
}

function viewAddress(
  { address, kind, name, subnetId }: Allocation,
  prefixes: ReturnType<typeof prefixesById>,
): MachineView["addresses"][number] {
  return { address, subnet: prefixes.get(subnetId) ?? "", name, kind };
}
