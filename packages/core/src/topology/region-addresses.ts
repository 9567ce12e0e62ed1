import { addressFamily, compareAddresses, type IpAddress, type IpFamily } from "../address/ip.js";

/** One coordinator with the addresses it published of its own host, by the same judgement as a rack's. */
export interface RegionHost {
  readonly name: string;
  readonly addresses: readonly IpAddress[];
}

/**
 * Where agents reach the region, IPv4 before IPv6: the address of the configured URL first, then one an other coordinator and family, in numeric order.
 * An address that several coordinators report belongs to none of them (a bridge that all have, a VIP) and is left out, but for the configured one.
 */
export function regionAddresses(hosts: readonly RegionHost[], configured: IpAddress | null = null): readonly IpAddress[] {
  return ([4, 6] as const satisfies readonly IpFamily[]).flatMap((family) => {
    const first = configured !== null && addressFamily(configured) === family ? configured : null;
    const rest = hosts
      .filter(({ addresses }) => first === null || !addresses.includes(first))
      .flatMap(({ name, addresses }) => lowest(addresses, (own) => addressFamily(own) === family && !isShared(hosts, name, own)));
    const ordered = rest.sort(compareAddresses);
    return first === null ? ordered : [first, ...ordered];
  });
}

function lowest(addresses: readonly IpAddress[], fits: (address: IpAddress) => boolean): readonly IpAddress[] {
  return addresses.filter(fits).sort(compareAddresses).slice(0, 1);
}

function isShared(hosts: readonly RegionHost[], name: string, address: IpAddress): boolean {
  return hosts.some((host) => host.name !== name && host.addresses.includes(address));
}
