import type { FailoverState, HostDeclaration, Lease, LeaseDiagnostic, LeaseFileFamily } from "./model.js";

/**
 * What a leases file says now: the last block of every address, the hosts, the failover states.
 *
 * Keys are texts: `192.0.2.1`, `2001:db8::1`, or `2001:db8:ff00:100::/56` for a delegated prefix. Times named `now` are milliseconds since 1970.
 */
export interface LeaseTable {
  readonly family: LeaseFileFamily;
  /** Number of leases. */
  readonly size: number;
  readonly hosts: ReadonlyMap<string, HostDeclaration>;
  /** Hosts whose last declaration is a rubout: dhcpd ignores a host of that name in dhcpd.conf too. */
  readonly rubouts: ReadonlySet<string>;
  readonly failover: ReadonlyMap<string, FailoverState>;

  get(key: string): Lease | null;
  /** All leases, in the order in which their addresses first appeared. The table must not be fed meanwhile. */
  leases(): Iterable<Lease>;
  /** Their keys, without reading any of them. */
  keys(): Iterable<string>;
  /** Keys of all leases, in use or not, whose record names this hardware address (canonical text). */
  keysOfHardware(hardwareAddress: string): readonly string[];

  /** Keys whose lease is new, differs or is gone since the last call, each once; empties the set. The first call answers every key. */
  takeChanges(): readonly string[];
  /** Keys whose lease here differs from the one in `previous`, or that only one of both has: for a file read aside and swapped in. */
  changesFrom(previous: LeaseTable): readonly string[];

  /** The earliest time (ms) after `now` at which a lease stops being in use by the clock alone; null for none. Cheap: a heap. */
  nextLapse(now: number): number | null;
  /**
   * Keys whose `in use` flipped by the clock alone since the last call: lapsed when it went on, revived when it was set back.
   * The first call only sets the clock and answers nothing.
   */
  takeLapses(now: number): readonly string[];
}

/**
 * Reads one leases file from its first byte to its (moving) end. Any cutting of the bytes into chunks gives the same result,
 * time is linear in the bytes whatever they are, and memory is bounded by the number of distinct addresses plus one declaration.
 */
export interface LeaseReader {
  readonly table: LeaseTable;
  /** The next bytes of the file. They may be overwritten by the caller afterwards. */
  push(chunk: Uint8Array): void;
  /**
   * The end of the bytes. With `final` the file is known to get no more: an unclosed last block counts as closed and nothing may be pushed
   * afterwards. Without it nothing changes: the unfinished tail waits for more.
   */
  finish(final: boolean): void;
  /** Bytes pushed so far: where to go on reading. */
  readonly offset: number;
  /** The file ends within a declaration: dhcpd is still writing, or the file is torn. */
  readonly pendingTail: boolean;
  /** Whole declarations that were dropped as damaged or not understood. */
  readonly skippedDeclarations: number;
  /** What could not be used, in the order found: the first few of each kind, then one line with the number of the others. */
  diagnostics(): readonly LeaseDiagnostic[];
}
