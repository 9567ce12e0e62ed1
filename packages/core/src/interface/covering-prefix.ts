import { addressBits, compareAddresses, type IpAddress } from "../address/ip.js";
import { prefixAround, prefixContains, prefixFamily, prefixLength, prefixNetwork, type IpPrefix } from "../address/prefix.js";
import type { AddressVerdict } from "./verdict.js";

/** The smallest known network around an address; null where none covers it. No /32 or /128 is ever a network. */
export function coveringPrefix(prefixes: Iterable<IpPrefix>, address: IpAddress): IpPrefix | null {
  let smallest: IpPrefix | null = null;
  for (const prefix of prefixes) {
    if (prefixLength(prefix) === addressBits(prefixFamily(prefix)) || !prefixContains(prefix, address)) continue;
    if (smallest === null || prefixLength(prefix) > prefixLength(smallest)) smallest = prefix;
  }
  return smallest;
}

/** The networks that a host's real addresses stand in: what its observation proposes. Numeric order, IPv4 first. */
export function networksOf(verdicts: readonly AddressVerdict[]): readonly IpPrefix[] {
  const networks = new Set<IpPrefix>();
  for (const { class: kind, observed } of verdicts) {
    if (kind === "real" && observed.prefixLength > 0) networks.add(prefixAround(observed.address, observed.prefixLength));
  }
  return [...networks].filter((prefix) => prefixLength(prefix) < addressBits(prefixFamily(prefix))).sort(comparePrefixes);
}

/** Total order: by network address, then the wider first. */
export function comparePrefixes(a: IpPrefix, b: IpPrefix): number {
  return compareAddresses(prefixNetwork(a), prefixNetwork(b)) || prefixLength(a) - prefixLength(b);
}
