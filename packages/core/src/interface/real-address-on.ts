import { compareAddresses, type IpAddress } from "../address/ip.js";
import { prefixContains, type IpPrefix } from "../address/prefix.js";
import type { HostInterface } from "./model.js";
import { publishAddresses } from "./publish-addresses.js";
import { CONFIDENT, isDynamic, isHostWidth, type AddressVerdict } from "./verdict.js";

/** A host's address on a network, and whether it may be used without a warning. */
export interface RealAddress {
  readonly address: IpAddress;
  readonly interfaceName: string;
  readonly confidence: number;
}

/**
 * The one real address by which a host is known on a network: what dhcpd names as its server identifier, what NS records and server lists
 * point to. Best first: one that is surely real, one with the network's own prefix length before a /32, a static one, then the lowest number
 * (so that an address that comes and goes does not change the answer for the others). Null where the host has none there.
 */
export function realAddressOn(
  prefix: IpPrefix,
  interfaces: readonly HostInterface[],
  verdicts: readonly AddressVerdict[],
): RealAddress | null {
  return realAddressesOn(prefix, interfaces, verdicts)[0] ?? null;
}

/** All of them, best first. Judged within the prefix alone: a link without carrier keeps its address while the host has no other there. */
export function realAddressesOn(
  prefix: IpPrefix,
  interfaces: readonly HostInterface[],
  verdicts: readonly AddressVerdict[],
): readonly RealAddress[] {
  const there = verdicts.filter(({ observed }) => prefixContains(prefix, observed.address));
  return publishAddresses(interfaces, there)
    .map(({ verdict }) => verdict)
    .sort(byFitness)
    .map(({ observed, interfaceName, confidence }) => ({ address: observed.address, interfaceName, confidence }));
}

/** Fitter addresses first; a total order over the addresses of one host. */
export function byFitness(a: AddressVerdict, b: AddressVerdict): number {
  return (
    Number(b.confidence >= CONFIDENT) - Number(a.confidence >= CONFIDENT) ||
    Number(isHostWidth(a.observed)) - Number(isHostWidth(b.observed)) ||
    Number(isDynamic(a.observed)) - Number(isDynamic(b.observed)) ||
    (a.confidence >= CONFIDENT ? 0 : b.confidence - a.confidence) ||
    compareAddresses(a.observed.address, b.observed.address)
  );
}
