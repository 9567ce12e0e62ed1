import {
  changeHolds,
  subnetHolds,
  type Allocation,
  type HardwareAddress,
  type IpAddress,
  type LedgerChange,
  type LedgerFacts,
  type Quarantine,
  type Subnet,
  type SubnetHolds,
} from "@berth/core";
import type { Ledger } from "../ledger/ledger.js";

export type PlannedLedger = Pick<
  Ledger,
  "allocationsIn" | "allocationsOf" | "machineWith" | "quarantinesIn" | "quarantinesOf" | "vips"
>;

/** After more changes than this a subnet's allocations are looked through anew. */
const CHANGED_MAX = 1024;

/**
 * The ledger as the planner asks it, from pass to pass: what it takes of a subnet's allocations is kept until the subnet changes, and changed with
 * them. The desired states of the racks share those lists, so keeping them takes next to no memory.
 */
export class PlannedFacts implements LedgerFacts {
  private readonly ledger: PlannedLedger;
  private readonly holds = new Map<
    number,
    { readonly holds: SubnetHolds; readonly changed: Map<IpAddress, Allocation | null> }
  >();

  constructor(ledger: PlannedLedger) {
    this.ledger = ledger;
  }

  /** What was committed; null for all of it. */
  forget(changes: readonly LedgerChange[] | null): void {
    if (changes === null) return this.holds.clear();
    for (const [subnetId, changed] of changedIn(changes)) {
      const known = this.holds.get(subnetId);
      if (known === undefined) continue;
      for (const [address, allocation] of changed) known.changed.set(address, allocation);
      if (known.changed.size > CHANGED_MAX) this.holds.delete(subnetId);
    }
    for (const change of changes)
      if (change.table === "subnet") for (const each of [change.before, change.after]) this.holds.delete(each?.id ?? 0);
  }

  holdsOf(subnet: Subnet): SubnetHolds {
    const known = this.holds.get(subnet.id);
    if (known?.changed.size === 0) return known.holds;
    const holds =
      known === undefined
        ? subnetHolds(subnet, this.ledger.allocationsIn(subnet.id))
        : changeHolds(subnet, known.holds, known.changed);
    this.holds.set(subnet.id, { holds, changed: new Map() });
    return holds;
  }

  quarantinesIn(subnetId: number): readonly Quarantine[] {
    return this.ledger.quarantinesIn(subnetId);
  }

  quarantinesOf(nic: HardwareAddress): readonly Quarantine[] {
    return this.ledger.quarantinesOf(nic);
  }

  /** Addresses are served to NICs of the machine that holds them alone. */
  isServed(nic: HardwareAddress): boolean {
    const machine = this.ledger.machineWith(nic);
    return machine !== null && this.ledger.allocationsOf(machine.id).some(({ nics }) => nics.includes(nic));
  }

  vips(): readonly IpAddress[] {
    return this.ledger.vips().map(({ address }) => address);
  }
}

/** By subnet and address, what is there after these changes where something came, went or changed; null for nothing. */
function changedIn(changes: readonly LedgerChange[]): ReadonlyMap<number, ReadonlyMap<IpAddress, Allocation | null>> {
  const newest = new Map<string, Allocation | null>();
  const bySubnet = new Map<number, Map<IpAddress, Allocation | null>>();
  const put = ({ subnetId, address }: Allocation, now: Allocation | null): void => {
    const changed = bySubnet.get(subnetId) ?? new Map<IpAddress, Allocation | null>();
    bySubnet.set(subnetId, changed.set(address, now));
  };
  for (const change of changes) {
    if (change.table !== "allocation") continue;
    const { before, after } = change;
    const id = (after ?? before)?.id;
    if (id !== undefined) newest.set(id, after);
    if (before !== null) put(before, null);
  }
  // An address that one gave up may have gone to another in the same commit.
  for (const allocation of newest.values()) if (allocation !== null) put(allocation, allocation);
  return bySubnet;
}
