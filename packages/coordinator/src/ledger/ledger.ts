import type {
  Allocation,
  DhcpMode,
  HardwareAddress,
  IpAddress,
  IpPrefix,
  IpRange,
  Machine,
  Quarantine,
  Result,
  Subnet,
} from "@berth/core";

export interface SubnetRequest {
  readonly prefix: string;
  readonly site?: string;
  readonly gateway?: IpAddress | null;
  readonly domain: string;
  readonly mode: DhcpMode;
  readonly window?: IpRange | null;
  readonly enlistment?: { readonly pool?: IpPrefix; readonly sliceLength?: number; readonly leaseTime?: number } | null;
  readonly reserved?: readonly IpRange[];
  readonly dns?: readonly IpAddress[] | null;
  readonly ntp?: readonly IpAddress[] | null;
  readonly leaseTime?: number;
  readonly maxLeaseTime?: number;
}

export interface EnrollRequest {
  /** First NIC is the one the address belongs to; several are a bond. */
  readonly nics: readonly HardwareAddress[];
  readonly name?: string | null;
  /** Subnet by id or prefix; without it the one whose rack saw the machine. */
  readonly subnet?: string | null;
  readonly address?: IpAddress | null;
}

export interface Enrolled {
  readonly machine: Machine;
  readonly allocation: Allocation;
  /** False when the same request was answered before: same machine, same address. */
  readonly created: boolean;
}

/**
 * The region's ledger: reads are answered from memory, changes are decided by the core on memory and are durable (fsync) before the promise
 * resolves. A refusal comes back as problems and changes nothing. Changes are serialised; many that arrive in one turn of the event
 * loop share one commit.
 */
export interface Ledger {
  /** Grows by at least one with every committed change. */
  readonly revision: number;
  subnets(): readonly Subnet[];
  machines(): readonly Machine[];
  allocations(): readonly Allocation[];
  quarantines(): readonly Quarantine[];
  createSubnet(request: SubnetRequest): Promise<Result<Subnet>>;
  changeSubnet(id: number, change: Partial<SubnetRequest>): Promise<Result<Subnet>>;
  removeSubnet(id: number): Promise<Result<Subnet>>;
  enroll(request: EnrollRequest): Promise<Result<Enrolled>>;
  /** By machine id, name or NIC. Its addresses rest before anybody else gets them. */
  release(machine: string): Promise<Result<Machine>>;
  /** Called after each commit, never before it. Returns the way to stop. */
  onChange(listener: () => void): () => void;
}
