import type { FollowState, FollowWatching, IpAddress, Lease, LeasePages, LeaseReport, Problem } from "@berth/core";

/**
 * What changed since the last call; with `reset` everything told before is void and this is the whole table. To be read within the call: reports are made when they are
 * asked for.
 */
export interface LeaseChange {
  readonly upserts: readonly LeaseReport[];
  /** Addresses whose lease is no longer in the file. A lease that ended but is still written there is an upsert, not in use. */
  readonly gone: readonly IpAddress[];
  /** Keys of all of them in the reader's table, delegated prefixes (which are no single address and in neither list) among them. */
  readonly keys: readonly string[];
  readonly reset: boolean;
}

/** Figures of one follower; times in milliseconds. */
export interface LeaseFollowerHealth {
  readonly state: FollowState;
  readonly watching: FollowWatching;
  /** Octets left on the file's disk for dhcpd to write to; null while unknown. */
  readonly freeBytes: number | null;
  /** Octets of the file that are read. */
  readonly offset: number;
  /** Octets of the file, as last seen, that are not read yet. */
  readonly lagBytes: number;
  /** Grows by one with every file that was read from its start: replaced, cut or overwritten. */
  readonly generation: number;
  /** Device and inode of the file that the table comes from; null while none was read. */
  readonly identity: string | null;
  readonly leases: number;
  readonly hosts: number;
  /** The file ends inside a declaration. */
  readonly pendingTail: boolean;
  readonly skippedDeclarations: number;
  /** Since a lease last changed; null while none did. */
  readonly lastChangeAgeMs: number | null;
  /** Since the path was last looked at; far above the poll interval means that the disk hangs. */
  readonly lastLookAgeMs: number | null;
  /** Directory events that concerned the file. */
  readonly wakes: number;
  /** By how much the wall clock was last set, milliseconds; null while it never was. */
  readonly clockStepMs: number | null;
  readonly problems: readonly Problem[];
}

export interface LeaseFollower {
  /** Follows until aborted; then resolves. May run once. */
  run(signal: AbortSignal): Promise<void>;
  /** All leases as they are now. */
  snapshot(): readonly LeaseReport[];
  /** The same, made a page at a time: what is kept meanwhile is the keys, and each page tells what is so when it is made. */
  pages(): LeasePages;
  /** The leases, in use or not, that name one of these hardware addresses: a look into an index, whatever the number of leases. */
  leasesOf(hardwareAddresses: Iterable<string>): readonly LeaseReport[];
  /** One lease with all that the file says of it, by its key: address or delegated prefix. */
  lease(key: string): Lease | null;
  health(): LeaseFollowerHealth;
  /** Called at most once a turn. Answers how to stop it. */
  onChange(listener: (change: LeaseChange) => void): () => void;
}
