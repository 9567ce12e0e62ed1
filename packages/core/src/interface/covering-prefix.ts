import { addressBits, addressFamily, compareAddresses, type IpAddress } from "../address/ip.js";
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

/** The same for many addresses: one look for each prefix length in use instead of one for each prefix. */
export function coverIndex(prefixes: Iterable<IpPrefix>): (address: IpAddress) => IpPrefix | null {
  const byLength = new Map<number, Map<number, Set<IpPrefix>>>();
  for (const prefix of prefixes) {
    const family = prefixFamily(prefix);
    const length = prefixLength(prefix);
    if (length === addressBits(family)) continue;
    const lengths = byLength.get(family) ?? new Map<number, Set<IpPrefix>>();
    byLength.set(family, lengths.set(length, (lengths.get(length) ?? new Set()).add(prefix)));
  }
  const longestFirst = new Map([...byLength].map(([family, lengths]) => [family, [...lengths].sort(([a], [b]) => b - a)]));
  return (address) => {
    for (const [length, known] of longestFirst.get(addressFamily(address)) ?? []) {
      const around = prefixAround(address, length);
      if (known.has(around)) return around;
    }
    return null;
  };
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
