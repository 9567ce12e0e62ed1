import type { Allocation, EnrollRequest, Machine, Quarantine, Result, Subnet, SubnetRequest } from "@berth/core";

export type { EnrollRequest, SubnetRequest } from "@berth/core";

export interface Enrolled {
  readonly machine: Machine;
  readonly allocation: Allocation;
  /** False when the same request was answered before: same machine, same address. */
  readonly created: boolean;
}

/**
 * The region's ledger: reads are answered from memory, changes are decided by the core on memory and are durable (fsync) before the promise
 * resolves. A refusal comes back as problems and changes nothing. Changes are serialised; many that arrive in one turn of the event
 * loop share one commit. `actor` is who asks, for the audit log; `coordinator` when left out. A promise rejects with `EnvironmentError` when
 * the commit failed: then nothing of the group is in memory or in the store.
 */
export interface Ledger {
  /** Grows by at least one with every committed change. */
  readonly revision: number;
  subnets(): readonly Subnet[];
  machines(): readonly Machine[];
  allocations(): readonly Allocation[];
  quarantines(): readonly Quarantine[];
  createSubnet(request: SubnetRequest, actor?: string): Promise<Result<Subnet>>;
  changeSubnet(id: number, change: Partial<SubnetRequest>, actor?: string): Promise<Result<Subnet>>;
  removeSubnet(id: number, actor?: string): Promise<Result<Subnet>>;
  enroll(request: EnrollRequest, actor?: string): Promise<Result<Enrolled>>;
  /** By machine id, name or NIC. Its addresses rest before anybody else gets them. */
  release(machine: string, actor?: string): Promise<Result<Machine>>;
  /** Called after each commit, never before it. Returns the way to stop. */
  onChange(listener: () => void): () => void;
  /** Resolves when every change asked for so far is committed or refused. */
  settled(): Promise<void>;
  /** Follows what other coordinators commit to the same database, until aborted. Ends at once where there are none. */
  run(signal: AbortSignal): Promise<void>;
}
