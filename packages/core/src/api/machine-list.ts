import type { HardwareAddress } from "../address/hardware.js";
import type { Allocation, Machine, Subnet } from "../ipam/model.js";
import { prefixesById } from "../ipam/prefixes-by-id.js";
import { leasesOfNic } from "../protocol/rack-leases.js";
import type { LeaseReport } from "../protocol/messages.js";
import type { RackFinder } from "../topology/rack-finder.js";
import type { RackView } from "../topology/rack-view.js";
import { isoSeconds, isoTime, leaseInUse, reportedLeases, viewLease } from "./lease-view.js";
import type { MachineView } from "./machine.js";

/** What the machine list is made of: the ledger's machines and what the racks see. */
export interface MachineSources {
  readonly machines: readonly Machine[];
  readonly allocations: readonly Allocation[];
  readonly subnets: readonly Subnet[];
  readonly racks: readonly RackView[];
  readonly nowMs: number;
}

/** What the view of one machine is made of. */
export interface MachineViewSources extends Omit<MachineSources, "racks"> {
  readonly racks: RackFinder;
}

interface Sight {
  readonly rack: RackView;
  readonly lease: LeaseReport;
}

/**
 * All machines of the ledger, then the sightings: one for each NIC that has a lease in use and belongs to no machine. A NIC that a
 * released and a living machine share belongs to the living one.
 */
export function listMachines(sources: MachineSources): MachineView[] {
  const owners = nicOwners(sources.machines);
  const sights = sightsByNic(sources.racks);
  const addresses = addressesByMachine(sources);
  const context: ViewContext = { owners, sights, addresses, nowMs: sources.nowMs };
  const views = sources.machines.map((machine) => viewOf(machine, context));
  for (const [nic, own] of sights) {
    if (owners.has(nic) || !own.some((sight) => leaseInUse(sight, sources.nowMs))) continue;
    const sighting = seen(own, context);
    views.push({ id: null, state: "sighted", name: null, nics: [nic], addresses: [], ...sighting, createdAt: null });
  }
  return views;
}

/** The same view of one machine, at a cost that does not grow with the region. */
export function viewMachine(machine: Machine, sources: MachineViewSources): MachineView {
  return viewOf(machine, {
    owners: nicOwners(sources.machines),
    sights: new Map(machine.nics.map((nic) => [nic, sightsOf(sources.racks, nic)])),
    addresses: addressesByMachine({
      ...sources,
      allocations: sources.allocations.filter(({ machineId, owners }) => machineId === machine.id || owners.includes(machine.id)),
    }),
    nowMs: sources.nowMs,
  });
}

interface ViewContext {
  readonly owners: ReadonlyMap<HardwareAddress, Machine>;
  readonly sights: ReadonlyMap<HardwareAddress, readonly Sight[]>;
  readonly addresses: ReadonlyMap<string, MachineView["addresses"]>;
  readonly nowMs: number;
}

function viewOf(machine: Machine, context: ViewContext): MachineView {
  const own = machine.nics
    .filter((nic) => context.owners.get(nic)?.id === machine.id)
    .flatMap((nic) => context.sights.get(nic) ?? []);
  return {
    id: machine.id,
    state: machine.state,
    name: machine.name,
    nics: [...machine.nics],
    addresses: context.addresses.get(machine.id) ?? [],
    ...seen(own, context),
    createdAt: isoTime(machine.createdAt),
  };
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

function sightsOf(racks: RackFinder, nic: HardwareAddress): Sight[] {
  return racks.seeing([nic]).flatMap((rack) => leasesOfNic(rack.leases, nic).map((lease) => ({ rack, lease })));
}

function sightsByNic(racks: readonly RackView[]): Map<HardwareAddress, Sight[]> {
  const sights = new Map<HardwareAddress, Sight[]>();
  for (const sight of reportedLeases(racks)) {
    const nic = sight.lease.hardwareAddress;
    if (nic === null) continue;
    const list = sights.get(nic);
    if (list === undefined) sights.set(nic, [sight]);
    else list.push(sight);
  }
  return sights;
}

function seen(sights: readonly Sight[], { nowMs, owners }: ViewContext): Pick<MachineView, "leases" | "rack" | "seenAt"> {
  const newestFirst = [...sights].sort((a, b) => (b.lease.starts ?? 0) - (a.lease.starts ?? 0));
  const [newest] = newestFirst;
  const machineOf = (nic: HardwareAddress): string | null => owners.get(nic)?.id ?? null;
  return {
    leases: newestFirst
      .filter((sight) => leaseInUse(sight, nowMs))
      .map(({ rack, lease }) => viewLease(rack, lease, { nowMs, machineOf })),
    rack: newest?.rack.name ?? null,
    seenAt: isoSeconds(newest?.lease.starts ?? null),
  };
}

function addressesByMachine(sources: Pick<MachineSources, "allocations" | "subnets">): Map<string, MachineView["addresses"]> {
  const prefixes = prefixesById(sources.subnets);
  const addresses = new Map<string, MachineView["addresses"]>();
  for (const { address, kind, machineId, name, owners, subnetId } of sources.allocations) {
    for (const holder of machineId === null ? owners : [machineId]) {
      const list = addresses.get(holder) ?? [];
      list.push({ address, subnet: prefixes.get(subnetId) ?? "", name, kind });
      addresses.set(holder, list);
    }
  }
  return addresses;
}
