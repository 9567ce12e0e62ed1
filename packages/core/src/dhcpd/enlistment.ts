import { addressFamily, ipAddress, ipv4FromNumber, ipv4Number, type IpAddress } from "../address/ip.js";
import { prefixLength, prefixRange, rangeContains, usableRange, type IpPrefix, type IpRange } from "../address/prefix.js";
import type { DesiredSubnet } from "../desired/schema.js";
import { singleAddress, subtractRanges } from "./pools.js";

/** Of 169.254/16 the first and last 256 addresses are reserved (RFC 3927 §2.1), and one is the clouds' metadata server. */
const NEVER_GIVEN: readonly IpRange[] = [
  { first: ipAddress("169.254.0.0"), last: ipAddress("169.254.0.255") },
  { first: ipAddress("169.254.169.254"), last: ipAddress("169.254.169.254") },
  { first: ipAddress("169.254.255.0"), last: ipAddress("169.254.255.255") },
];

/** An address to configure on an interface. */
export interface EnlistmentAddress {
  readonly address: IpAddress;
  readonly prefixLength: number;
}

/**
 * What the agent must put on the link of a subnet in link-local mode, or null when there is nothing to put: without an address of its own
 * in the pool the rack cannot ping-check, cannot be reached by the enlisting machine, and unicast renewals fail.
 */
export function enlistmentAddress(subnet: Pick<DesiredSubnet, "mode" | "enlistment">): EnlistmentAddress | null {
  if (subnet.mode !== "link-local" || subnet.enlistment === null) return null;
  const { slice } = subnet.enlistment;
  const address = rackAddressIn(slice);
  return address === null ? null : { address, prefixLength: prefixLength(slice) };
}

/** The addresses of a slice that machines may get: without network, broadcast, the rack's own and those nobody may have. */
export function enlistmentRanges(slice: IpPrefix): IpRange[] {
  const rack = rackAddressIn(slice);
  return rack === null ? [] : subtractRanges(usableRange(slice), [...NEVER_GIVEN, singleAddress(rack)]);
}

/** The first address after the network address; where that one is reserved, the first after the reserved block. */
function rackAddressIn(slice: IpPrefix): IpAddress | null {
  if (addressFamily(prefixRange(slice).first) !== 4) return null;
  const usable = usableRange(slice);
  for (let address = usable.first; rangeContains(usable, address); ) {
    const reserved = NEVER_GIVEN.find((range) => rangeContains(range, address));
    if (reserved === undefined) return address;
    // Two past the block: the first of the next 256 ends in .0, which some boot loaders take for a network address.
    const next = ipv4Number(reserved.last) + 2;
    if (next > MAX_IPV4) return null;
    address = ipv4FromNumber(next);
  }
  return null;
}

const MAX_IPV4 = 0xffffffff;
