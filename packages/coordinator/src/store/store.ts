import type { WireStore } from "./wire-store.js";
import type {
  AddressFacts,
  DesiredChange,
  DesiredState,
  HostInterface,
  IpAddress,
  LeaseReport,
  LedgerChange,
  LedgerContent,
  LedgerState,
  Problem,
  StoredRack,
} from "@berth/core";
import type { ApiTokenStore } from "./api-token-store.js";

/**
 * Where a region keeps what must survive: one port, an engine per database. Every promise of a change resolves after the commit is durable
 * (fsync); the reports of racks are the exception, see {@link ReportStore}. All of it throws `EnvironmentError`: `store-unwritable` (disk full,
 * read-only, locked), `store-unreadable`, `store-conflict` (a constraint of the schema refused the change), `store-closed`.
 */
export interface Store {
  readonly ledger: LedgerStore;
  readonly racks: RackStore;
  readonly tokens: TokenStore;
  readonly apiTokens: ApiTokenStore;
  readonly settings: SettingStore;
  readonly plans: PlanStore;
  readonly audit: AuditStore;
  readonly reports: ReportStore;
  readonly topology: TopologyStore;
  readonly wire: WireStore;
  /** Why nothing can be written: the last change failed with `store-unwritable`. Null when the last one went well. */
  problem(): Problem | null;
  /** Writes what is still queued and gives the data folder back. Afterwards every call throws `store-closed`, but reports are dropped. */
  close(): Promise<void>;
}

export interface LedgerStore {
  /** Lists of all records as they stand in the store. Where coordinators share the store, commits and news go on from what was loaded last. */
  load(): Promise<{ readonly revision: number; readonly content: LedgerContent }>;
  /** The same as a ledger in memory, read row by row: a large ledger's lists take several times as much. */
  loadState(): Promise<LoadedLedger>;
  /**
   * One transaction for all of it; answers the new revision. If it throws, nothing of it is in the store. Where coordinators share the store:
   * `store-behind` when another one committed since the last load, commit or news; after `store-unreachable` it may have come through all the
   * same, and the news say so.
   */
  commit(changes: readonly LedgerChange[], audit: readonly AuditEntry[]): Promise<number>;
  /** Null where this store's owner is the only one who writes. */
  readonly shared: SharedLedger | null;
}

/** What one commit writes. */
export interface CommitContent {
  readonly changes: readonly LedgerChange[];
  readonly audit: readonly AuditEntry[];
}

/** What other coordinators did to the same ledger. */
export interface SharedLedger {
  /** All that was committed since the last load, commit or news, as one step from revision to revision; null when nothing was. */
  news(): Promise<LedgerNews | null>;
  /**
   * A commit that no other can be before: waits until nobody else commits, and lets nobody else commit until what `decide` makes of the
   * news is committed. Answers its revision, or null where it has no changes. `decide` is called once, or not at all when this throws
   * before; `store-behind` before it: more happened than a turn can tell, see {@link SharedLedger.news}; after it: the turn was lost on
   * the way.
   */
  inTurn(decide: (news: LedgerNews | null) => CommitContent): Promise<number | null>;
  /**
   * Calls with the revision of every commit that is heard of, and twice a second with infinity because one may not have been, until aborted.
   */
  watch(listener: (revision: number) => void, signal: AbortSignal): Promise<void>;
}

/**
 * In `state` the whole ledger anew: too much was missed, or the database went back to an older state. `isAll` when nothing else had been committed
 * at the moment it was read.
 */
export type LedgerNews =
  | { readonly revision: number; readonly changes: readonly LedgerChange[]; readonly isAll: boolean }
  | LoadedLedger;

export interface LoadedLedger {
  readonly revision: number;
  readonly state: LedgerState;
}

/** The identity of a rack, as it was given at its join. Times in milliseconds since 1970. */
export interface RackRecord {
  readonly id: string;
  /** For people; unique in the region. */
  readonly name: string;
  readonly site: string;
  readonly joinedAt: number;
  /** Serial of the newest certificate given, in hex; null before the first. */
  readonly certificateSerial: string | null;
  /** SHA-256 of the public key (SPKI DER) in hex. */
  readonly publicKeyHash: string;
}

export interface RackStore {
  list(): Promise<readonly RackRecord[]>;
  /** Adds or replaces by id. A name that another rack has is a `store-conflict`. */
  save(rack: RackRecord): Promise<void>;
  /** The rack, its reports and its desired state; none is fine. */
  remove(id: string): Promise<void>;
}

/** A join token. Only the hash of its secret is kept. Times in milliseconds since 1970. */
export interface TokenRecord {
  readonly id: string;
  readonly secretHash: string;
  readonly expiresAt: number;
  /** Name the rack shall have; null lets the rack's host name decide. */
  readonly rackName: string | null;
  readonly site: string;
  /** It gives the place of the rack that has this name to another host. */
  readonly replaces: boolean;
  /** Public key hash of the rack that used it; null while unused. */
  readonly usedBy: string | null;
  readonly usedAt: number | null;
}

export interface TokenStore {
  list(): Promise<readonly TokenRecord[]>;
  save(token: TokenRecord): Promise<void>;
  /**
   * Marks the token as used by that key unless a key already used it, in one step, and answers the record as it now stands (`usedBy` says
   * who came first); null when there is no such token. The same key may ask again and gets the same answer.
   */
  use(id: string, usedBy: string, at: number): Promise<TokenRecord | null>;
  remove(id: string): Promise<void>;
}

/** Small facts of the region by name: its key, its defaults. */
export interface SettingStore {
  get(name: string): Promise<string | null>;
  set(name: string, value: string): Promise<void>;
  /** Sets it unless it is there, in one step, and answers what is there then. */
  claim(name: string, value: string): Promise<string>;
}

/** The newest desired state of a rack. `digest` names it, see `DesiredDigests`; of one that an older version saved it may be another name. */
export interface DesiredRecord {
  readonly state: DesiredState;
  readonly digest: string;
  /** The last one that was saved as it is; `change` leads from it to the newest. Null: it is the newest. */
  readonly whole: DesiredState;
  readonly change: DesiredChange | null;
}

/** The serial a zone's content has now; `digest` is the SHA-256 of the zone in canonical JSON with serial 1. */
export interface SerialRecord {
  readonly site: string;
  readonly origin: string;
  readonly serial: number;
  readonly digest: string;
}

export interface PlanStore {
  load(): Promise<{ readonly desired: readonly DesiredRecord[]; readonly serials: readonly SerialRecord[] }>;
  /** Adds or replaces, all in one transaction, and of a state with a change only that, which is small, as long as what it begins with is there: a generation is never handed out before the serials it carries are kept. */
  save(desired: readonly DesiredRecord[], serials: readonly SerialRecord[]): Promise<void>;
}

/** One line of the append-only audit log. */
export interface AuditEntry {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Who asked: a token's name, a rack, `coordinator`. */
  readonly actor: string;
  /** Stable kebab-case: `enroll-machine`, `create-subnet`, `create-token`, ... */
  readonly action: string;
  /** What it was done to, as an operator names it. */
  readonly subject: string;
  /** Values before and after, or whatever explains it. */
  readonly detail: unknown;
}

export interface AuditStore {
  append(entry: AuditEntry): Promise<void>;
  /** Oldest first, from the entry after that number (0 for the first); at most `limit` of them. */
  list(after: number, limit: number): Promise<readonly AuditRecord[]>;
  /** Newest first, those before the number `before` (null for the newest); of one actor, of one action, or of all. */
  newest(asked: {
    readonly before: number | null;
    readonly actor: string | null;
    readonly action: string | null;
    readonly limit: number;
  }): Promise<readonly AuditRecord[]>;
}

/** An entry with its place in the log; numbers grow, with gaps at most where a commit failed. */
export type AuditRecord = AuditEntry & { readonly number: number };

/** What a rack last reported, so that its facts outlive a restart of the coordinator. */
export interface RackReport {
  readonly interfaces: readonly HostInterface[];
  /** Milliseconds since 1970; null before the first report. */
  readonly interfacesAt: number | null;
  readonly leases: readonly LeaseReport[];
}

/**
 * Reports are queued and written together at most a second later: a rack sends them again when a coordinator has lost the last moment. The
 * calls return at once; a failed write is kept, tried again and logged once.
 */
export interface ReportStore {
  load(): Promise<ReadonlyMap<string, RackReport>>;
  saveInterfaces(rackId: string, interfaces: readonly HostInterface[], at: number): void;
  /** Changes single leases; `replaceLeases` drops those that are not named. */
  changeLeases(rackId: string, changed: readonly LeaseReport[], gone: readonly IpAddress[]): void;
  replaceLeases(rackId: string, leases: readonly LeaseReport[]): void;
  /** Writes what is queued now. */
  flush(): Promise<void>;
}

/** Moves of virtual addresses that are kept; older ones go. */
export const VIP_MOVES_MAX = 100_000;

/** One move of a virtual address, with the racks' names as they were then. `at` in milliseconds since 1970. */
export interface VipMoveRecord {
  readonly site: string;
  readonly address: IpAddress;
  readonly from: string;
  readonly to: string;
  readonly at: number;
}

/** What a topology has become since it was last saved. */
export interface TopologyChange {
  readonly racks: readonly StoredRack[];
  readonly goneRacks: readonly string[];
  readonly addresses: readonly AddressFacts[];
  readonly goneAddresses: readonly { readonly site: string; readonly address: IpAddress }[];
  /** Oldest first; appended. */
  readonly moves: readonly VipMoveRecord[];
  /** Up to when the region watched its racks, in milliseconds since 1970. */
  readonly seenAt: number;
}

export interface TopologyStore {
  /** `seenAt` is null before anything was saved. */
  load(): Promise<{
    readonly racks: readonly StoredRack[];
    readonly addresses: readonly AddressFacts[];
    readonly seenAt: number | null;
  }>;
  /** All of it in one transaction. */
  save(change: TopologyChange): Promise<void>;
  /** Newest first, those before the number `after` (null for the newest); of one address or of all. */
  moves(asked: {
    readonly address: IpAddress | null;
    readonly after: number | null;
    readonly limit: number;
  }): Promise<readonly (VipMoveRecord & { readonly number: number })[]>;
}
