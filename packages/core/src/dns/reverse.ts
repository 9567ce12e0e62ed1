import ipaddr from "ipaddr.js";
import {
  addressBits,
  addressFamily,
  addressFromValue,
  addressValue,
  parseIpAddress,
  type IpAddress,
  type IpFamily,
} from "../address/ip.js";
import { prefixAround, prefixFamily, prefixLength, prefixRange, type IpPrefix } from "../address/prefix.js";

/** The name whose PTR record names the address: RFC 1035 §3.5 for IPv4, RFC 3596 §2.5 for IPv6. No final dot. */
export function reverseName(address: IpAddress): string {
  return reverseNameOf(address, addressBits(addressFamily(address)));
}

/**
 * Origins of the reverse zones of a prefix, ascending. DNS cuts only between labels, that is, at octets (IPv4) and nibbles (IPv6): a
 * prefix between two cuts gets several zones at the next longer one, never one zone that claims its neighbours' space. Beyond /24 and /124
 * it is the one enclosing zone, which neighbours share.
 */
export function reverseZonesFor(prefix: IpPrefix): string[] {
  const family = prefixFamily(prefix);
  const cut = cutLength(family, prefixLength(prefix));
  const { first, last } = prefixRange(prefix);
  const step = 1n << BigInt(addressBits(family) - cut);
  const origins: string[] = [];
  const start = (addressValue(first) / step) * step;
  for (let value = start; value <= addressValue(last); value += step)
    origins.push(reverseNameOf(addressFromValue(family, value), cut));
  return origins;
}

/** The origin among `origins` that is the closest above the address, compared label by label; null when none is. */
export function reverseZoneOf(address: IpAddress, origins: { has(origin: string): boolean }): string | null {
  const name = reverseName(address);
  for (let dot = name.indexOf("."); dot >= 0; dot = name.indexOf(".", dot + 1)) {
    const origin = name.slice(dot + 1);
    if (origins.has(origin)) return origin;
  }
  return null;
}

/** The prefix that an octet- or nibble-cut reverse zone covers: the inverse of {@link reverseZonesFor}; null for any other name. */
export function reverseZonePrefix(origin: string): IpPrefix | null {
  if (origin === "in-addr.arpa") return prefixAround("0.0.0.0" as IpAddress, 0);
  if (origin === "ip6.arpa") return prefixAround("::" as IpAddress, 0);
  if (origin.endsWith(".in-addr.arpa")) return ipv4Zone(origin.slice(0, -".in-addr.arpa".length).split("."));
  if (origin.endsWith(".ip6.arpa")) return ipv6Zone(origin.slice(0, -".ip6.arpa".length).split("."));
  return null;
}

function ipv4Zone(labels: readonly string[]): IpPrefix | null {
  if (labels.length > 4) return null;
  const octets = [...labels.toReversed(), "0", "0", "0"].slice(0, 4);
  const address = parseIpAddress(octets.join("."));
  return address === null ? null : prefixAround(address, labels.length * 8);
}

function ipv6Zone(labels: readonly string[]): IpPrefix | null {
  if (labels.length > 32 || labels.some((label) => !/^[0-9a-f]$/.test(label))) return null;
  const nibbles = labels.toReversed().join("").padEnd(32, "0");
  const address = parseIpAddress((nibbles.match(/..../g) ?? []).join(":"));
  return address === null ? null : prefixAround(address, labels.length * 4);
}

function cutLength(family: IpFamily, length: number): number {
  return family === 4 ? Math.min(Math.ceil(length / 8) * 8, 24) : Math.min(Math.ceil(length / 4) * 4, 124);
}

function reverseNameOf(address: IpAddress, length: number): string {
  if (addressFamily(address) === 4)
    return [
      ...address
        .split(".")
        .slice(0, length / 8)
        .reverse(),
      "in-addr.arpa",
    ].join(".");
  const nibbles = ipaddr.IPv6.parse(address)
    .parts.map((part) => part.toString(16).padStart(4, "0"))
    .join("");
  return [...[...nibbles.slice(0, length / 4)].reverse(), "ip6.arpa"].join(".");
}
