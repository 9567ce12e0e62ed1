import {
  addressValue,
  ipAddress,
  ipPrefix,
  prefixContains,
  usableRange,
  type Allocation,
  type IpAddress,
  type Machine,
  type NameRecord,
  type Reservation,
} from "@berth/core";
import { expect } from "vitest";

/** What a person would keep on paper of all answers, in the order in which they came: slow, plain, and told of nothing else. */
export class Paper {
  readonly allocations = new Map<string, Allocation>();
  readonly machines = new Map<string, Machine>();
  readonly records = new Map<string, NameRecord>();
  readonly reservations = new Map<string, Reservation>();
  /** Every address that was ever given back. */
  readonly released = new Set<IpAddress>();
  private readonly prefixes: ReadonlyMap<number, string>;

  constructor(prefixes: ReadonlyMap<number, string>) {
    this.prefixes = prefixes;
  }

  machine(machine: Machine): void {
    for (const other of this.machines.values()) {
      if (other.id === machine.id) continue;
      const left = other.nics.filter((nic) => !machine.nics.includes(nic));
      if (left.length === other.nics.length) continue;
      expect(other.state, `${machine.id} took a NIC of ${other.id}`).toBe("released");
      if (left.length === 0) this.machines.delete(other.id);
      else this.machines.set(other.id, { ...other, nics: left });
    }
    this.machines.set(machine.id, machine);
  }

  /** A new allocation, or one that the caller was told of again. */
  give(allocation: Allocation, created: boolean): void {
    const known = this.allocations.get(allocation.id);
    if (!created) {
      expect(known, `${allocation.address} is told as given before, and was not`).toBeDefined();
    } else {
      expect(known).toBeUndefined();
      for (const other of this.allocations.values()) {
        expect(other.address, `${other.address} is given twice`).not.toBe(allocation.address);
        expect(other.name, `${other.name} is given twice`).not.toBe(allocation.name);
      }
      expect(this.reserved(allocation.address), `${allocation.address} is reserved`).toBe(false);
      const aliased = [...this.records.values()].filter(({ name, type }) => name === allocation.name && type !== "TXT");
      expect(aliased).toEqual([]);
    }
    this.allocations.set(allocation.id, allocation);
  }

  takeBack(allocation: Allocation): void {
    expect(this.allocations.delete(allocation.id), `${allocation.address} was given back twice`).toBe(true);
    this.released.add(allocation.address);
  }

  releaseMachine(machine: Machine): void {
    for (const held of [...this.allocations.values()]) {
      if (held.machineId === machine.id) this.takeBack(held);
      if (!held.owners.includes(machine.id)) continue;
      const owners = held.owners.filter((owner) => owner !== machine.id);
      if (owners.length === 0) this.takeBack(held);
      else this.allocations.set(held.id, { ...held, owners });
    }
    this.machine(machine);
  }

  /** Whether an exhausted subnet is one: nothing in it was never given, is not given now, and is not reserved. */
  mayBeExhausted(subnetId: number): boolean {
    const usable = usableRange(ipPrefix(this.prefixes.get(subnetId) ?? ""));
    const held = new Set([...this.allocations.values()].map(({ address }) => address));
    const base = Number(addressValue(usable.first));
    const count = Number(addressValue(usable.last)) - base + 1;
    return Array.from({ length: count }, (_, step) => addressAt(base + step)).every(
      (address) => held.has(address) || this.released.has(address) || this.reserved(address),
    );
  }

  reserved(address: IpAddress): boolean {
    const value = addressValue(address);
    return [...this.reservations.values()].some(({ first, last }) => addressValue(first) <= value && value <= addressValue(last));
  }

  subnetOf(address: IpAddress): number {
    for (const [id, prefix] of this.prefixes) if (prefixContains(ipPrefix(prefix), address)) return id;
    return 0;
  }
}

function addressAt(value: number): IpAddress {
  return ipAddress([24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join("."));
}
