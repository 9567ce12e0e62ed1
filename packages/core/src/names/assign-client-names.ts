import type { HardwareAddress } from "../address/hardware.js";
import { compareAddresses, type IpAddress } from "../address/ip.js";
import type { LeaseReport } from "../protocol/messages.js";

type NamedLease = Pick<LeaseReport, "address" | "hardwareAddress" | "inUse" | "dnsLabel" | "starts">;

/** Who has a label that a client claimed. */
export interface ClientName {
  readonly address: IpAddress;
  readonly hardwareAddress: HardwareAddress | null;
}

/** By label. */
export type ClientNames = ReadonlyMap<string, ClientName>;

/**
 * Which live lease stands under which claimed label (`dnsLabel`: see `dnsLabelOf`, which lets no `localhost` through). The first keeps it as long as its lease lives, whoever claims it later;
 * the others stand under none. `before` says who that is, because a renewal moves a lease's `starts`; without it the lease that started first does, then the lowest address. A machine
 * that has the label and moved to another address takes it along. `taken` holds labels of racks, machines and records: never a client's.
 */
export function assignClientNames(
  leases: Iterable<NamedLease>,
  { taken, before }: { readonly taken: ReadonlySet<string>; readonly before: ClientNames },
): ClientNames {
  const claims = new Map<string, NamedLease[]>();
  for (const lease of leases) {
    const { dnsLabel, inUse } = lease;
    if (dnsLabel === null || !inUse || taken.has(dnsLabel)) continue;
    const others = claims.get(dnsLabel);
    if (others === undefined) claims.set(dnsLabel, [lease]);
    else others.push(lease);
  }
  const names = new Map<string, ClientName>();
  for (const [label, claimants] of claims) {
    const winner = firstOf(claimants, before.get(label));
    if (winner !== null) names.set(label, winner);
  }
  return names;
}

function firstOf(claimants: readonly NamedLease[], before: ClientName | undefined): ClientName | null {
  const [first] = claimants.toSorted(byStart);
  if (first === undefined) return null;
  const holder = claimants.some((lease) => isSame(lease, before)) ? before : first;
  // One machine may have several leases for a while: its newest address is the one it answers at.
  const own = claimants.filter(({ hardwareAddress }) => hardwareAddress !== null && hardwareAddress === holder?.hardwareAddress);
  const newest = own.toSorted(byStart).at(-1);
  const { address, hardwareAddress } = newest ?? claimants.find((lease) => isSame(lease, before)) ?? first;
  return { address, hardwareAddress };
}

function isSame(lease: NamedLease, before: ClientName | undefined): boolean {
  if (before === undefined) return false;
  const { address, hardwareAddress } = lease;
  return hardwareAddress === before.hardwareAddress && (hardwareAddress !== null || address === before.address);
}

function byStart(a: NamedLease, b: NamedLease): number {
  return (a.starts ?? 0) - (b.starts ?? 0) || compareAddresses(a.address, b.address);
}
