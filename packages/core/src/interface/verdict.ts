import { addressBits, addressFamily, type IpAddress, type IpFamily } from "../address/ip.js";
import type { HostInterface, InterfaceAddress } from "./model.js";

/**
 * - `real`: the host's own, stays with it.
 * - `vip`: moves between hosts by design, or stands on many at once (anycast); never handed out as a server.
 * - `p2p`: one end of a tunnel, an overlay or a point-to-point link.
 * - `local`: loopback and link-local; means nothing beyond the host or the link.
 * - `container`: plumbing of a container or VM engine on this host.
 */
export type AddressClass = "real" | "vip" | "p2p" | "local" | "container";

/** What one address on one interface was judged to be, with all that was seen of it. */
export interface AddressVerdict {
  readonly interfaceName: string;
  /** As the kernel has it: raw prefix length, flags, scope and lifetimes. */
  readonly observed: InterfaceAddress;
  readonly class: AddressClass;
  /** 0 to 1. Servers are chosen freely from 0.8 on, below it only with a warning. */
  readonly confidence: number;
  /** In words, the deciding one first. */
  readonly reasons: readonly string[];
  /** Which step of {@link judgeAddresses} decided; 0 is the evidence of the whole fleet. */
  readonly step: number;
}

/** From here on a `real` is believed without a warning, and against another host's claim. */
export const CONFIDENT = 0.8;

/** The key of an address on a host: the kernel may hold one address twice, with two prefix lengths. */
export function verdictKey(verdict: Pick<AddressVerdict, "interfaceName" | "observed">): string {
  return `${verdict.interfaceName} ${verdict.observed.address}/${verdict.observed.prefixLength}`;
}

export function familyOf(observed: InterfaceAddress): IpFamily {
  return addressFamily(observed.address);
}

/** /32 or /128: the prefix length that names no network. */
export function isHostWidth(observed: InterfaceAddress): boolean {
  return observed.prefixLength === addressBits(familyOf(observed));
}

export function hasFlag(observed: InterfaceAddress, flag: string): boolean {
  return observed.flags.includes(flag);
}

/** It came with a lifetime: DHCP, DHCPv6 or a router advertisement gave it to this host. */
export function isDynamic(observed: InterfaceAddress): boolean {
  return hasFlag(observed, "dynamic") || observed.validLifetime !== null;
}

/** UP with a carrier. Flags that nobody told count as up. */
export function isUp(entry: HostInterface): boolean {
  return entry.flags.length === 0 || (entry.flags.includes("UP") && entry.flags.includes("LOWER_UP"));
}

export function isLoopback(entry: HostInterface): boolean {
  return entry.flags.includes("LOOPBACK") || entry.name === "lo";
}

/** `192.168.0.11/24 on eth0` */
export function describeAddress(verdict: Pick<AddressVerdict, "interfaceName" | "observed">): string {
  return `${verdict.observed.address}/${verdict.observed.prefixLength} on ${verdict.interfaceName}`;
}

/**
 * One verdict an address, for readers who do not care about prefix lengths: where the same address stands twice, it is the host's own if
 * either says so; otherwise the wider one speaks.
 */
export function mergeByAddress(verdicts: readonly AddressVerdict[]): ReadonlyMap<IpAddress, AddressVerdict> {
  const merged = new Map<IpAddress, AddressVerdict>();
  for (const verdict of verdicts) {
    const known = merged.get(verdict.observed.address);
    if (known === undefined || speaksFor(verdict, known)) merged.set(verdict.observed.address, verdict);
  }
  return merged;
}

/** Real before anything else, then the wider, then the surer; equals leave the first. */
function speaksFor(verdict: AddressVerdict, known: AddressVerdict): boolean {
  if ((verdict.class === "real") !== (known.class === "real")) return verdict.class === "real";
  if (verdict.class === known.class && verdict.confidence !== known.confidence) return verdict.confidence > known.confidence;
  return verdict.observed.prefixLength < known.observed.prefixLength;
}
