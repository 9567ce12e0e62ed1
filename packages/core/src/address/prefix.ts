import { assert, refused, accepted, type Result } from "../problem.js";
import {
  addressBits,
  addressFamily,
  addressFromValue,
  addressValue,
  parseIpAddress,
  type IpAddress,
  type IpFamily,
} from "./ip.js";

/** A CIDR block in canonical text, host bits zero: `192.168.50.0/24`, `2001:db8::/64`. */
export type IpPrefix = string & { readonly brand: "IpPrefix" };

/** An inclusive run of addresses of one family; `first` is not above `last`. */
export interface IpRange {
  readonly first: IpAddress;
  readonly last: IpAddress;
}

/** Reads `ADDRESS/LENGTH`. Host bits are refused with the network that was probably meant. */
export function parseIpPrefix(text: string, at = "prefix"): Result<IpPrefix> {
  const slash = text.indexOf("/");
  const address = slash < 0 ? null : parseIpAddress(text.slice(0, slash));
  const digits = slash < 0 ? "" : text.slice(slash + 1);
  if (address === null || !/^\d{1,3}$/.test(digits)) {
    return refused({
      code: "prefix-malformed",
      at,
      message: `'${printable(text)}' is not a prefix`,
      remedy: "write it as 192.168.50.0/24 or 2001:db8::/64",
    });
  }
  const family = addressFamily(address);
  const length = Number(digits);
  if (length > addressBits(family)) {
    return refused({
      code: "prefix-malformed",
      at,
      message: `'${text}' has a length above ${addressBits(family)}`,
      remedy: "use a shorter prefix length",
    });
  }
  const network = networkOf(address, length);
  if (!text.startsWith(`${network}/`) && network !== address) {
    return refused({
      code: "prefix-host-bits",
      at,
      message: `'${text}' has host bits set`,
      remedy: `the network is ${network}/${length}`,
    });
  }
  return accepted(`${network}/${length}` as IpPrefix);
}

/** The same, for text that our own code or a checked schema produced. */
export function ipPrefix(text: string): IpPrefix {
  const prefix = parseIpPrefix(text);
  assert(prefix.ok, `not a prefix: ${text}`);
  return prefix.value;
}

/** The network address of the block of that length around `address`. */
export function networkOf(address: IpAddress, length: number): IpAddress {
  const family = addressFamily(address);
  const hostBits = BigInt(addressBits(family) - length);
  return addressFromValue(family, (addressValue(address) >> hostBits) << hostBits);
}

export function prefixAround(address: IpAddress, length: number): IpPrefix {
  return `${networkOf(address, length)}/${length}` as IpPrefix;
}

export function prefixLength(prefix: IpPrefix): number {
  return Number(prefix.slice(prefix.indexOf("/") + 1));
}

export function prefixNetwork(prefix: IpPrefix): IpAddress {
  return prefix.slice(0, prefix.indexOf("/")) as IpAddress;
}

export function prefixFamily(prefix: IpPrefix): IpFamily {
  return addressFamily(prefixNetwork(prefix));
}

/** First and last address of the block, network and broadcast included. */
export function prefixRange(prefix: IpPrefix): IpRange {
  const first = prefixNetwork(prefix);
  const family = addressFamily(first);
  const size = 1n << BigInt(addressBits(family) - prefixLength(prefix));
  return { first, last: addressFromValue(family, addressValue(first) + size - 1n) };
}

/**
 * The addresses a host may have: all of /31, /32, /127 and /128; otherwise without network and broadcast (IPv4) or
 * without the subnet-router anycast address (IPv6, RFC 4291 §2.6.1).
 */
export function usableRange(prefix: IpPrefix): IpRange {
  const { first, last } = prefixRange(prefix);
  const family = addressFamily(first);
  if (addressBits(family) - prefixLength(prefix) <= 1) return { first, last };
  const lowest = addressFromValue(family, addressValue(first) + 1n);
  return family === 4 ? { first: lowest, last: addressFromValue(4, addressValue(last) - 1n) } : { first: lowest, last };
}

/** What the addresses of the block outside {@link usableRange} are, for messages. */
export function unusableName(prefix: IpPrefix): string {
  return prefixFamily(prefix) === 4 ? "the network or broadcast address" : "the subnet-router anycast address";
}

export function prefixContains(prefix: IpPrefix, address: IpAddress): boolean {
  return addressFamily(address) === prefixFamily(prefix) && networkOf(address, prefixLength(prefix)) === prefixNetwork(prefix);
}

export function prefixesOverlap(a: IpPrefix, b: IpPrefix): boolean {
  return prefixContains(a, prefixNetwork(b)) || prefixContains(b, prefixNetwork(a));
}

export function rangeContains(range: IpRange, address: IpAddress): boolean {
  if (addressFamily(address) !== addressFamily(range.first)) return false;
  const value = addressValue(address);
  return addressValue(range.first) <= value && value <= addressValue(range.last);
}

/** Dotted netmask of an IPv4 prefix length. */
export function netmask(length: number): IpAddress {
  return addressFromValue(4, ((1n << BigInt(length)) - 1n) << BigInt(32 - length));
}

function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, "?").slice(0, 80);
}
