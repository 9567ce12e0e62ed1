import type {
  Allocated,
  AllocateRequest,
  Allocation,
  Enlisted,
  EnlistRequest,
  EnrollRequest,
  HardwareAddress,
  IpAddress,
  Imported,
  ImportRequest,
  LedgerChange,
  Machine,
  MachineChange,
  NameRecord,
  Problem,
  Quarantine,
  Recorded,
  RecordRequest,
  Reservation,
  Reserved,
  ReserveRequest,
  Result,
  Subnet,
  SubnetRequest,
} from "@berth/core";
import type { By } from "./asker.js";

export type { EnrollRequest, SubnetRequest } from "@berth/core";

export interface Enrolled {
  readonly machine: Machine;
  readonly allocation: Allocation;
  /** False when the same request was answered before: same machine, same address. */
  readonly created: boolean;
  /** What an operator should know of the address that was given all the same. */
  readonly warnings?: readonly Problem[];
}

/** What the ledger has, as of the last commit. */
export interface LedgerReads {
  /** These three keep one list until one of their records changes. */
  subnets(): readonly Subnet[];
  reservations(): readonly Reservation[];
  records(): readonly NameRecord[];
  /** These three make a list of all records, which costs as much as there are. */
  machines(): readonly Machine[];
  allocations(): readonly Allocation[];
  quarantines(): readonly Quarantine[];
  /** One after the other, over as many turns as its reader likes: each as of the last commit when it is reached. */
  eachAllocation(): Iterable<Allocation>;
  /** By id; null when there is none. This and all that follow cost the same in a ledger of any size. */
  machine(id: string): Machine | null;
  /** That has this NIC, released ones included. */
  machineWith(nic: HardwareAddress): Machine | null;
  /** By chosen name; released ones included. */
  machinesNamed(name: string): readonly Machine[];
  allocation(id: string): Allocation | null;
  allocationsOf(machineId: string): readonly Allocation[];
  allocationsIn(subnetId: number): readonly Allocation[];
  /** One in each site that has the address. */
  allocationsAt(address: IpAddress): readonly Allocation[];
  /** By full name. */
  allocationsNamed(name: string): readonly Allocation[];
  vips(): readonly Allocation[];
  /** Released addresses that were of the subnet, also those that have rested. */
  quarantinesIn(subnetId: number): readonly Quarantine[];
  /** What a NIC held before, likewise. */
  quarantinesOf(nic: HardwareAddress): readonly Quarantine[];
  usage(subnetId: number): { readonly allocations: number; readonly quarantines: number };
  allocationCount(): number;
}

/**
 * The region's ledger: reads are answered from memory, changes are decided by the core on memory and are durable (fsync) before the promise
 * resolves. A refusal comes back as problems and changes nothing. Changes are serialised; many that arrive in one turn of the event
 * loop share one commit. `by` is who asks, for the audit log, and how; `coordinator`, plainly, when left out. A promise rejects with `EnvironmentError` when
 * the commit failed: then nothing of the group is in memory or in the store.
 */
export interface Ledger extends LedgerReads {
  /** Grows by at least one with every committed change. */
  readonly revision: number;
  /** Who holds an address of a subnet, decided changes included: for advice, not for answers. */
  allocationIn(subnetId: number, address: IpAddress): Allocation | null;
  /** Addresses of a subnet that would be given next, likewise. */
  nextAddresses(subnetId: number): readonly IpAddress[];
  createSubnet(request: SubnetRequest, by?: By): Promise<Result<Subnet>>;
  changeSubnet(id: number, change: Partial<SubnetRequest>, by?: By): Promise<Result<Subnet>>;
  removeSubnet(id: number, by?: By): Promise<Result<Subnet>>;
  enroll(request: EnrollRequest, by?: By): Promise<Result<Enrolled>>;
  /** Subnets and machines in one commit, or none and every refusal, at `subnets[2]....` and `machines[12]....`. */
  importAll(request: ImportRequest, by?: By): Promise<Result<Imported>>;
  /** By machine id, name or NIC. Its addresses rest before anybody else gets them. */
  release(machine: string, by?: By): Promise<Result<Machine>>;
  /** Writes a machine down that has no address yet. */
  enlist(request: EnlistRequest, by?: By): Promise<Result<Enlisted>>;
  /** Renames it, adds NICs, takes NICs away. By machine id, name or NIC. */
  changeMachine(machine: string, change: MachineChange, by?: By): Promise<Result<Machine>>;
  /** One address: of a machine, additional, or a VIP. */
  allocate(request: AllocateRequest, by?: By): Promise<Result<Allocated>>;
  /** All of them or none. */
  allocateMany(requests: readonly AllocateRequest[], by?: By): Promise<Result<readonly Allocated[]>>;
  /** An additional address or a whole VIP; by id, address or full name. */
  releaseAllocation(reference: string, by?: By): Promise<Result<Allocation>>;
  addVipOwner(membership: { readonly vip: string; readonly machine: string }, by?: By): Promise<Result<Allocation>>;
  /** With the last owner the address is freed and rests; the answer then has no owners. */
  removeVipOwner(membership: { readonly vip: string; readonly machine: string }, by?: By): Promise<Result<Allocation>>;
  reserve(request: ReserveRequest, by?: By): Promise<Result<Reserved>>;
  unreserve(reference: string, by?: By): Promise<Result<Reservation>>;
  addRecord(request: RecordRequest, by?: By): Promise<Result<Recorded>>;
  removeRecord(reference: string, by?: By): Promise<Result<NameRecord>>;
  /** Called after each commit, never before it, with all that it changed; with null when all may have changed. Returns the way to stop. */
  onChange(listener: (changes: readonly LedgerChange[] | null) => void): () => void;
  /** Resolves when every change asked for so far is committed or refused. */
  settled(): Promise<void>;
  /** Follows what other coordinators commit to the same database, until aborted. Ends at once where there are none. */
  run(signal: AbortSignal): Promise<void>;
}
