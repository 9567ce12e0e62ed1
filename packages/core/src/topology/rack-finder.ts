import type { HardwareAddress } from "../address/hardware.js";
import type { IpAddress } from "../address/ip.js";
import { rackLabel } from "../dns/compose.js";
import type { HostInterface } from "../interface/model.js";
import { leasesOfNic } from "../protocol/rack-leases.js";
import type { RackView } from "./rack-view.js";

/** Finds racks of all sites by what they report, each answer in the order of the list that `all` is. */
export interface RackFinder {
  all(): readonly RackView[];
  /** With the address on an interface or in a lease, over or not. */
  holding(address: IpAddress): readonly RackView[];
  /** With a lease of any of these NICs, over or not. */
  seeing(nics: readonly HardwareAddress[]): readonly RackView[];
  /** Whose name server has this label. */
  labelled(label: string): readonly RackView[];
}

/** A finder that looks through all racks, so that it costs as much as there are. A region has a {@link RackIndex}. */
export function findAmong(racks: () => readonly RackView[]): RackFinder {
  return {
    all: racks,
    holding: (address) => racks().filter((rack) => rack.leases.has(address) || interfaceWith(rack, address) !== null),
    seeing: (nics) => racks().filter(({ leases }) => nics.some((nic) => leasesOfNic(leases, nic).length > 0)),
    labelled: (label) => racks().filter(({ name }) => rackLabel(name) === label),
  };
}

/** A reported interface list is replaced, never changed, so its index can be kept as long as it lives. */
const ownAddresses = new WeakMap<readonly HostInterface[], ReadonlyMap<IpAddress, string>>();

/** The name of the interface that has the address; null when none has. */
export function interfaceWith({ interfaces }: Pick<RackView, "interfaces">, address: IpAddress): string | null {
  return interfacesByAddress(interfaces).get(address) ?? null;
}

export function interfacesByAddress(interfaces: readonly HostInterface[]): ReadonlyMap<IpAddress, string> {
  let own = ownAddresses.get(interfaces);
  if (own === undefined) {
    own = new Map(interfaces.flatMap(({ name, addresses }) => addresses.map((entry) => [entry.address, name] as const)));
    ownAddresses.set(interfaces, own);
  }
  return own;
}
