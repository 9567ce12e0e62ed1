import type { HardwareAddress } from "../address/hardware.js";
import type { IpAddress } from "../address/ip.js";
import type { Allocation, Quarantine, Subnet } from "../ipam/model.js";
import { subnetHolds, type SubnetHolds } from "./subnet-holds.js";

/** What a plan asks of the ledger, subnet by subnet, so that it need not be listed as a whole. */
export interface LedgerFacts {
  holdsOf(subnet: Subnet): SubnetHolds;
  /** All released addresses that were of this subnet, also those that have rested. */
  quarantinesIn(subnetId: number): readonly Quarantine[];
  /** What a NIC held before, likewise. */
  quarantinesOf(nic: HardwareAddress): readonly Quarantine[];
  /** Is any address served to it? */
  isServed(nic: HardwareAddress): boolean;
  vips(): readonly IpAddress[];
}

/** A whole ledger that is listed anyway. */
export interface LedgerLists {
  readonly allocations: readonly Allocation[];
  readonly quarantines: readonly Quarantine[];
}

export function listedFacts({ allocations, quarantines }: LedgerLists): LedgerFacts {
  const bySubnet = groupBy(allocations, ({ subnetId }) => [subnetId]);
  const restingIn = groupBy(quarantines, ({ subnetId }) => [subnetId]);
  const restingOf = groupBy(quarantines, ({ nics }) => nics);
  const served = new Set(allocations.flatMap(({ nics }) => nics));
  return {
    holdsOf: (subnet) => subnetHolds(subnet, bySubnet.get(subnet.id) ?? []),
    quarantinesIn: (subnetId) => restingIn.get(subnetId) ?? [],
    quarantinesOf: (nic) => restingOf.get(nic) ?? [],
    isServed: (nic) => served.has(nic),
    vips: () => allocations.filter(({ kind }) => kind === "vip").map(({ address }) => address),
  };
}

export function groupBy<Key, T>(items: readonly T[], keysOf: (item: T) => readonly Key[]): Map<Key, T[]> {
  const groups = new Map<Key, T[]>();
  for (const item of items) {
    for (const key of keysOf(item)) {
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [item]);
      else group.push(item);
    }
  }
  return groups;
}
