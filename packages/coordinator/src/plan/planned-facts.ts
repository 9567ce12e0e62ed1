import {
  subnetHolds,
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

/**
 * The ledger as the planner asks it, from pass to pass: what it takes of a subnet's allocations is kept until one of them or the subnet changes. The
 * desired states of the racks share those lists, so keeping them takes next to no memory.
 */
export class PlannedFacts implements LedgerFacts {
  private readonly ledger: PlannedLedger;
  private readonly holds = new Map<number, SubnetHolds>();

  constructor(ledger: PlannedLedger) {
    this.ledger = ledger;
  }

  /** What was committed; null for all of it. */
  forget(changes: readonly LedgerChange[] | null): void {
    if (changes === null) return this.holds.clear();
    for (const change of changes) {
      if (change.table === "allocation") for (const each of [change.before, change.after]) this.holds.delete(each?.subnetId ?? 0);
      if (change.table === "subnet") for (const each of [change.before, change.after]) this.holds.delete(each?.id ?? 0);
    }
  }

  holdsOf(subnet: Subnet): SubnetHolds {
    const known = this.holds.get(subnet.id);
    if (known !== undefined) return known;
    const holds = subnetHolds(subnet, this.ledger.allocationsIn(subnet.id));
    this.holds.set(subnet.id, holds);
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
