import ipaddr from "ipaddr.js";
import { assert } from "../problem.js";
import { ipv6Parts, ipv6Text } from "./ipv6-text.js";

export type IpFamily = 4 | 6;

/** An address in canonical text: dotted quad, or RFC 5952 for IPv6. Only {@link parseIpAddress} and its kin make one. */
export type IpAddress = string & { readonly brand: "IpAddress" };

const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;

/**
 * Reads one address strictly: four decimal octets without leading zeros, or RFC 4291 text without a zone.
 * IPv4-mapped IPv6 (`::ffff:192.0.2.1`) stays IPv6. Answers null for anything else.
 */
export function parseIpAddress(text: string): IpAddress | null {
  if (IPV4.test(text)) return text as IpAddress;
  if (text.length > 45 || text.includes("%") || !text.includes(":") || !ipaddr.IPv6.isValid(text)) return null;
  return ipv6Text(ipaddr.IPv6.parse(text).parts) as IpAddress;
}

/** The same, for text that our own code or a checked schema produced. */
export function ipAddress(text: string): IpAddress {
  const address = parseIpAddress(text);
  assert(address !== null, `not an address: ${text}`);
  return address;
}

export function addressFamily(address: IpAddress): IpFamily {
  return address.includes(":") ? 6 : 4;
}

/** Width of an address in bits: 32 or 128. */
export function addressBits(family: IpFamily): number {
  return family === 4 ? 32 : 128;
}

/** The address as an unsigned number, most significant octet first. */
export function addressValue(address: IpAddress): bigint {
  if (addressFamily(address) === 4) return BigInt(ipv4Number(address));
  const parts = ipv6Parts(address);
  let value = 0n;
  // Two groups at once: arithmetic on big numbers is what takes the time.
  for (let i = 0; i < parts.length; i += 2) value = (value << 32n) | BigInt((parts[i] ?? 0) * 0x10000 + (parts[i + 1] ?? 0));
  return value;
}

/** An IPv4 address as an unsigned 32-bit number: the cheap form for tables and bitmaps. */
export function ipv4Number(address: IpAddress): number {
  let value = 0;
  let octet = 0;
  for (let i = 0; i < address.length; i++) {
    const c = address.charCodeAt(i);
    if (c === 46) {
      value = value * 256 + octet;
      octet = 0;
    } else {
      octet = octet * 10 + (c - 48);
    }
  }
  return value * 256 + octet;
}

/** The same for an address of either family: -1 for IPv6. Family and number in one look, for tens of thousands. */
export function ipv4NumberOrNone(address: IpAddress): number {
  let value = 0;
  let octet = 0;
  for (let i = 0; i < address.length; i++) {
    const c = address.charCodeAt(i);
    if (c === 46) {
      value = value * 256 + octet;
      octet = 0;
    } else if (c >= 48 && c <= 57) {
      octet = octet * 10 + (c - 48);
    } else {
      return -1;
    }
  }
  return value * 256 + octet;
}

export function ipv4FromNumber(value: number): IpAddress {
  return `${value >>> 24}.${(value >>> 16) & 255}.${(value >>> 8) & 255}.${value & 255}` as IpAddress;
}

/** Of eight groups of 16 bits. */
export function ipv6FromParts(parts: readonly number[]): IpAddress {
  return ipv6Text(parts) as IpAddress;
}

/** The inverse of {@link addressValue}. */
export function addressFromValue(family: IpFamily, value: bigint): IpAddress {
  assert(value >= 0n && value < 1n << BigInt(addressBits(family)), `address value out of range: ${value}`);
  if (family === 4) return ipv4FromNumber(Number(value));
  const parts: number[] = [];
  for (let shift = 96n; shift >= 0n; shift -= 32n) {
    const two = Number(BigInt.asUintN(32, value >> shift));
    parts.push(two >>> 16, two & 0xffff);
  }
  return ipv6FromParts(parts);
}

/** The address as 4 or 16 octets, the form it has on the wire between agent and coordinator. */
export function addressBytes(address: IpAddress): Uint8Array {
  if (addressFamily(address) === 4) return Uint8Array.from(address.split("."), Number);
  return Uint8Array.from(ipv6Parts(address).flatMap((part) => [part >>> 8, part & 255]));
}

export function addressFromBytes(bytes: Uint8Array): IpAddress | null {
  if (bytes.length === 4) return ipv4FromNumber(new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0));
  if (bytes.length !== 16) return null;
  return ipv6FromParts(Array.from({ length: 8 }, (_, part) => (bytes[2 * part] ?? 0) * 256 + (bytes[2 * part + 1] ?? 0)));
}

/** The address after (or, with a negative step, before) this one; null past either end of the family. */
export function addressPlus(address: IpAddress, step: bigint | number): IpAddress | null {
  const family = addressFamily(address);
  const value = addressValue(address) + BigInt(step);
  return value < 0n || value >> BigInt(addressBits(family)) !== 0n ? null : addressFromValue(family, value);
}

/** Total order: IPv4 before IPv6, then numeric. */
export function compareAddresses(a: IpAddress, b: IpAddress): number {
  const families = addressFamily(a) - addressFamily(b);
  if (families !== 0) return families;
  if (addressFamily(a) === 4) return ipv4Number(a) - ipv4Number(b);
  const x = addressValue(a);
  const y = addressValue(b);
  return x < y ? -1 : x > y ? 1 : 0;
}
