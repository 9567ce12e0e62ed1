import type { HostInterface, HostKnowledge, IpAddress, LeaseReport, Neighbor } from "@berth/core";

/** Neighbours told to the region: on a served network that is everybody there, and more than this says nothing new about segments. */
const NEIGHBORS_MAX = 8192;

/** What an operator set for this host. */
export interface ConfiguredAddresses {
  readonly real: readonly IpAddress[];
  readonly vips: readonly IpAddress[];
}

/** What the host knows that its interfaces do not show, in a stable order: equal knowledge is sent once. */
export function hostKnowledge(
  configured: ConfiguredAddresses,
  seen: {
    readonly interfaces: readonly HostInterface[];
    /** Leases that name one of the host's own hardware addresses. */
    readonly ownLeases: readonly LeaseReport[];
    readonly neighbors: readonly Neighbor[];
  },
): HostKnowledge {
  const leasedToSelf = seen.ownLeases.filter(({ inUse }) => inUse);
  const neighbors = seen.neighbors
    .filter(({ states }) => !states.includes("FAILED"))
    .map(({ interfaceName, address, hardwareAddress }) => ({ interfaceName, address, hardwareAddress }))
    .sort((a, b) => compare(a.interfaceName, b.interfaceName) || compare(a.address, b.address));
  return {
    real: [...configured.real],
    vips: [...configured.vips],
    leasedToSelf: leasedToSelf.map(({ address }) => address).sort(compare),
    neighbors: neighbors.slice(0, NEIGHBORS_MAX),
  };
}

export function ownHardwareAddresses(interfaces: readonly HostInterface[]): ReadonlySet<string> {
  return new Set(
    interfaces.flatMap(({ hardwareAddress, permanentAddress }) =>
      [hardwareAddress, permanentAddress].filter((mac) => mac !== null),
    ),
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
