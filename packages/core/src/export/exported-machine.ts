import { parseIpAddress, type IpAddress } from "../address/ip.js";
import type { AllocationView } from "../api/allocation.js";
import { addressSortKey } from "../api/sort-key.js";
import type { SubnetView } from "../api/subnet.js";
import { parsePremade } from "../names/premade.js";

/** One static address as other systems want it. */
export interface ExportedAddress {
  readonly address: string;
  readonly prefixLength: number;
  readonly subnet: string;
  readonly subnetId: number;
  readonly gateway: string | null;
  readonly domain: string;
  /** Fully qualified. */
  readonly name: string;
  /** The name is the pre-made one of the address: nobody chose it. */
  readonly premade: boolean;
  readonly kind: "machine" | "additional" | "vip";
  readonly nics: readonly string[];
}

/** A machine with its addresses in the order in which it got them; a virtual address has no machine and stands alone. */
export interface ExportedMachine {
  readonly id: string | null;
  /** That of its first address, fully qualified. */
  readonly name: string;
  readonly nics: readonly string[];
  readonly addresses: readonly ExportedAddress[];
}

/** Puts the API's allocations together by machine, machines in the order of their first addresses. */
export function exportedMachines(
  allocations: readonly AllocationView[],
  subnets: readonly SubnetView[],
): readonly ExportedMachine[] {
  const byId = new Map(subnets.map((subnet) => [subnet.id, subnet]));
  const groups = new Map<string, AllocationView[]>();
  for (const allocation of allocations.toSorted((a, b) => compareText(a.createdAt, b.createdAt))) {
    const key = allocation.machineId ?? `alone ${allocation.id}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [allocation]);
    else group.push(allocation);
  }
  const machines = [...groups.values()].map((group): ExportedMachine => {
    const addresses = group.map((allocation) => exportedAddress(allocation, byId.get(allocation.subnetId)));
    const nics = [...new Set(addresses.flatMap((address) => address.nics))];
    return { id: group[0]?.machineId ?? null, name: addresses[0]?.name ?? "", nics, addresses };
  });
  return machines.toSorted((a, b) => compareText(sortKey(a), sortKey(b)));
}

function exportedAddress(allocation: AllocationView, subnet: SubnetView | undefined): ExportedAddress {
  const { address, kind, name, nics, subnet: prefix, subnetId } = allocation;
  const [label = ""] = name.split(".", 1);
  return {
    address,
    prefixLength: Number(prefix.slice(prefix.lastIndexOf("/") + 1)),
    subnet: prefix,
    subnetId,
    gateway: subnet?.gateway ?? null,
    domain: subnet?.domain ?? name.slice(label.length + 1),
    name,
    premade: parsePremade(label) === address,
    kind,
    nics,
  };
}

function sortKey({ addresses }: ExportedMachine): string {
  const address: IpAddress | null = parseIpAddress(addresses[0]?.address ?? "");
  return address === null ? "" : addressSortKey(address);
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
