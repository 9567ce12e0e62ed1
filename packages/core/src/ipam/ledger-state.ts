import type { HardwareAddress } from "../address/hardware.js";
import type { IpAddress } from "../address/ip.js";
import type { IpPrefix } from "../address/prefix.js";
import { assert } from "../problem.js";
import type { LedgerChange, LedgerContent } from "./change.js";
import { HeldAllocations } from "./held/held-allocations.js";
import { machineCodec } from "./held/machine-codec.js";
import { RecordTable } from "./held/record-table.js";
import { IndexOf } from "./index-of.js";
import type { Allocation, KeptAnswer, Machine, NameRecord, Quarantine, Reservation, Subnet } from "./model.js";
import { PrefixIndex } from "./prefix-index.js";
import { SubnetSpace } from "./subnet-space.js";

/** A ledger in which nothing was ever declared. */
export const EMPTY_LEDGER: LedgerContent = {
  subnets: [],
  machines: [],
  allocations: [],
  quarantines: [],
  reservations: [],
  records: [],
  answers: [],
  nextSubnetId: 1,
};

/**
 * The ledger in memory, with the indexes that make every decision independent of its size. Machines and allocations are held packed: whoever asks for
 * one gets an object made for him. Only {@link LedgerState.apply} changes it; a
 * decision reads it and answers changes.
 */
export class LedgerState {
  readonly subnets = new Map<number, Subnet>();
  readonly spaces = new Map<number, SubnetSpace>();
  readonly machines = new RecordTable(machineCodec);
  readonly quarantines = new Map<string, Quarantine>();
  readonly reservations = new Map<string, Reservation>();
  readonly records = new Map<string, NameRecord>();
  /** Oldest first. */
  readonly answers = new Map<string, KeptAnswer>();
  nextSubnetId: number;

  /** Released machines included: a NIC that comes back is the same machine. */
  readonly machineOfNic = this.machines.indexBy(({ nics }) => nics);
  readonly machinesByName = this.machines.indexBy(({ name }) => (name === null ? [] : [name]));
  /** Those in which the last turn met addresses as taken by observation. */
  private readonly met = new Set<SubnetSpace>();
  private readonly held = new HeldAllocations((subnetId) => this.subnets.get(subnetId)?.domain ?? null);
  readonly allocations = this.held.table;
  readonly allocationByOwner = this.held.byOwner;
  readonly allocationByName = this.held.byName;
  readonly vips = new Set<string>();
  readonly subnetsByDomain = new IndexOf<string, number>();
  private readonly subnetsByPrefix = new PrefixIndex<number>();
  readonly recordsByName = new IndexOf<string, NameRecord>();
  /** What a NIC held before. */
  readonly restingOfNic = new IndexOf<HardwareAddress, string>();

  constructor(content: LedgerContent) {
    this.nextSubnetId = content.nextSubnetId;
    for (const after of content.subnets) this.apply({ table: "subnet", before: null, after });
    for (const after of content.machines) this.apply({ table: "machine", before: null, after });
    for (const after of content.allocations) this.apply({ table: "allocation", before: null, after });
    for (const after of content.quarantines) this.apply({ table: "quarantine", before: null, after });
    for (const after of content.reservations) this.apply({ table: "reservation", before: null, after });
    for (const after of content.records) this.apply({ table: "record", before: null, after });
    for (const after of content.answers) this.apply({ table: "answer", before: null, after });
  }

  /** Forgets everything and takes what the other has, which must not be used any more. */
  reset(other: LedgerState): void {
    Object.assign(this, other);
  }

  apply(change: LedgerChange): void {
    switch (change.table) {
      case "subnet":
        return this.applySubnet(change.before, change.after);
      case "machine":
        return this.applyMachine(change.before, change.after);
      case "allocation":
        return this.applyAllocation(change.before, change.after);
      case "quarantine":
        return this.applyQuarantine(change.before, change.after);
      case "reservation":
        return this.applyReservation(change.before, change.after);
      case "record":
        return this.applyRecord(change.before, change.after);
      case "answer":
        if (change.before !== null) this.answers.delete(answerKey(change.before));
        if (change.after !== null) this.answers.set(answerKey(change.after), change.after);
        return;
      case "next-subnet":
        this.nextSubnetId = change.after;
    }
  }

  /** Observations may have changed since the last decisions. */
  beginTurn(): void {
    for (const space of this.met) space.beginTurn();
    this.met.clear();
  }

  content(): LedgerContent {
    return {
      subnets: [...this.subnets.values()],
      machines: [...this.machines.values()],
      allocations: [...this.allocations.values()],
      quarantines: [...this.quarantines.values()],
      reservations: [...this.reservations.values()],
      records: [...this.records.values()],
      answers: [...this.answers.values()],
      nextSubnetId: this.nextSubnetId,
    };
  }

  /** The space of a subnet that is in the ledger. */
  spaceOf(subnetId: number): SubnetSpace {
    const space = this.spaces.get(subnetId);
    assert(space !== undefined, `no subnet ${subnetId}`);
    return space;
  }

  subnetHolding(site: string, address: IpAddress): Subnet | null {
    return this.subnetsAround(address).find((subnet) => subnet.site === site) ?? null;
  }

  /** Of all sites, in the order of their ids, as is the next. */
  subnetsAround(address: IpAddress): readonly Subnet[] {
    return this.subnetsOf(this.subnetsByPrefix.around(address));
  }

  subnetsAt(prefix: IpPrefix): readonly Subnet[] {
    return this.subnetsOf(this.subnetsByPrefix.at(prefix));
  }

  private subnetsOf(ids: readonly number[]): readonly Subnet[] {
    return ids.toSorted((a, b) => a - b).flatMap((id) => this.subnets.get(id) ?? []);
  }

  /** All allocations of a machine, in the order in which they were made. */
  allocationsOf(machineId: string): readonly Allocation[] {
    return this.held.byHolder.of(machineId).toSorted((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
  }

  private applySubnet(before: Subnet | null, after: Subnet | null): void {
    if (before !== null) {
      this.subnetsByDomain.remove(before.domain, before.id);
      this.subnetsByPrefix.remove(before.prefix, before.id);
    }
    if (after === null) {
      if (before === null) return;
      this.subnets.delete(before.id);
      this.spaces.delete(before.id);
      return;
    }
    this.subnets.set(after.id, after);
    this.subnetsByDomain.add(after.domain, after.id);
    this.subnetsByPrefix.add(after.prefix, after.id);
    const space = this.spaces.get(after.id);
    if (space === undefined) this.spaces.set(after.id, this.newSpace(after));
    else space.redeclare(after);
  }

  private newSpace(subnet: Subnet): SubnetSpace {
    const space = new SubnetSpace(subnet, this.held, (met) => this.met.add(met));
    for (const quarantine of this.quarantines.values())
      if (quarantine.subnetId === subnet.id) space.setQuarantine(quarantine.address, quarantine);
    return space;
  }

  private applyReservation(before: Reservation | null, after: Reservation | null): void {
    if (before !== null) {
      this.reservations.delete(before.id);
      this.spaces.get(before.subnetId)?.setReservation(before, null);
    }
    if (after !== null) {
      this.reservations.set(after.id, after);
      this.spaceOf(after.subnetId).setReservation(null, after);
    }
  }

  private applyRecord(before: NameRecord | null, after: NameRecord | null): void {
    if (before !== null) {
      this.records.delete(before.id);
      this.recordsByName.remove(before.name, before);
    }
    if (after !== null) {
      this.records.set(after.id, after);
      this.recordsByName.add(after.name, after);
    }
  }

  private applyMachine(before: Machine | null, after: Machine | null): void {
    if (before !== null) this.machines.delete(before.id);
    if (after !== null) this.machines.set(after);
  }

  private applyAllocation(before: Allocation | null, after: Allocation | null): void {
    if (before !== null) {
      this.vips.delete(before.id);
      const row = this.allocations.delete(before.id);
      this.spaces.get(before.subnetId)?.removeAllocation(before.address, row);
    }
    if (after !== null) {
      if (after.kind === "vip") this.vips.add(after.id);
      const space = this.spaceOf(after.subnetId);
      space.addAllocation(after.address, this.allocations.set(after));
    }
  }

  private applyQuarantine(before: Quarantine | null, after: Quarantine | null): void {
    if (before !== null) {
      const key = quarantineKey(before);
      this.quarantines.delete(key);
      for (const nic of before.nics) this.restingOfNic.remove(nic, key);
      this.spaces.get(before.subnetId)?.setQuarantine(before.address, null);
    }
    if (after !== null) {
      const key = quarantineKey(after);
      this.quarantines.set(key, after);
      for (const nic of after.nics) this.restingOfNic.add(nic, key);
      this.spaces.get(after.subnetId)?.setQuarantine(after.address, after);
    }
  }
}

/** The change that takes this one back. */
export function undoOf(change: LedgerChange): LedgerChange {
  return { ...change, before: change.after, after: change.before } as LedgerChange;
}

/** An address rests once in its site, whatever subnet lies over it. */
export function quarantineKey(quarantine: Pick<Quarantine, "site" | "address">): string {
  return `${quarantine.site} ${quarantine.address}`;
}

/** One caller's keys are its own. */
export function answerKey({ actor, key }: Pick<KeptAnswer, "actor" | "key">): string {
  return `${actor} ${key}`;
}
