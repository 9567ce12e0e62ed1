import type { HostInterface, InterfaceAddress } from "@berth/core";

/**
 * Whether two scans tell the same. Lifetimes tick down by themselves; only that there is one is a fact, and the kernel's flag tells when the preferred
 * one has run out.
 */
export function sameInterfaces(a: readonly HostInterface[], b: readonly HostInterface[]): boolean {
  return JSON.stringify(a.map(lasting)) === JSON.stringify(b.map(lasting));
}

function lasting(entry: HostInterface): unknown {
  return { ...entry, addresses: entry.addresses.map(withoutClock) };
}

function withoutClock(address: InterfaceAddress): unknown {
  return { ...address, validLifetime: address.validLifetime !== null, preferredLifetime: address.preferredLifetime !== null };
}
