import type { IpAddress, IpFamily } from "../address/ip.js";
import type { IpPrefix } from "../address/prefix.js";

/** ISC's seven binding states (dhcpd.leases(5)); without failover a settled lease is active, free or abandoned. */
export const BINDING_STATES = ["free", "active", "expired", "released", "abandoned", "reset", "backup"] as const;
export type BindingState = (typeof BINDING_STATES)[number];

/** Seconds since 1970 in UTC, `never` (for ever), or null where the file does not say or says nonsense. */
export type LeaseTime = number | "never" | null;

/** `hardware TYPE OCTETS;`: the type as written (`ethernet`, `infiniband`, `unknown-32`) and all octets. */
export interface LeaseHardware {
  readonly type: string;
  readonly octets: Uint8Array;
}

/** What a `set` variable or an agent option holds; octets where it is not printable text. */
export type LeaseValue = string | number | boolean | Uint8Array;

/** One IPv4 lease: the last block of its address, whole. A view: reading it later does not change it. */
export interface Lease4 {
  readonly family: 4;
  /** The table's key, here the address. */
  readonly key: string;
  readonly address: IpAddress;
  /** Null where the block has no state (then the times decide), `unknown` where it has a word that dhcpd does not know. */
  readonly bindingState: BindingState | "unknown" | null;
  readonly nextBindingState: BindingState | "unknown" | null;
  readonly rewindBindingState: BindingState | "unknown" | null;
  readonly starts: LeaseTime;
  readonly ends: LeaseTime;
  readonly cltt: LeaseTime;
  readonly tstp: LeaseTime;
  readonly tsfp: LeaseTime;
  readonly atsfp: LeaseTime;
  readonly hardware: LeaseHardware | null;
  /** Option 61 as sent, null where none was sent or it is empty. */
  readonly clientId: Uint8Array | null;
  /** What the client calls itself: hostile bytes, decode with {@link decodeHostname}. */
  readonly clientHostname: Uint8Array | null;
  readonly bootp: boolean;
  readonly reserved: boolean;
  readonly sets: ReadonlyMap<string, LeaseValue>;
  /** Options of the relay agent, without `agent.` */
  readonly agent: ReadonlyMap<string, LeaseValue>;
  /** A failover peer is declared in the same file: a partner may still hold what is expired, released or reset. */
  readonly partnered: boolean;
}

export type Lease6Type = "na" | "ta" | "pd";

/** One address or delegated prefix of an IA of a DHCPv6 lease file. */
export interface Lease6 {
  readonly family: 6;
  /** The table's key: the address (na, ta) or the prefix (pd). */
  readonly key: string;
  readonly type: Lease6Type;
  /** The address, or the first one of the prefix. */
  readonly address: IpAddress;
  readonly prefix: IpPrefix | null;
  readonly iaid: number;
  readonly duid: Uint8Array;
  readonly bindingState: BindingState | "unknown" | null;
  readonly cltt: LeaseTime;
  readonly ends: LeaseTime;
  /** Seconds. */
  readonly preferredLife: number | null;
  readonly maxLife: number | null;
}

export type Lease = Lease4 | Lease6;

/** `host NAME { ... }` as OMAPI leaves it in the leases file. */
export interface HostDeclaration {
  readonly name: string;
  readonly hardware: LeaseHardware | null;
  readonly clientId: Uint8Array | null;
  /** Addresses only: a DNS name in `fixed-address` is never looked up. */
  readonly fixedAddresses: readonly IpAddress[];
  readonly hostname: string | null;
  readonly nextServer: IpAddress | null;
}

/** States of a failover pair as last written: dhcpd's words (`normal`, `communications-interrupted`, `partner-down`, ...). */
export interface FailoverState {
  readonly my: string | null;
  readonly partner: string | null;
}

/** Something in the file that could not be used. `code` is stable kebab-case; `line` counts from 1. */
export interface LeaseDiagnostic {
  readonly code: string;
  readonly line: number;
  readonly message: string;
}

/** Which kind of server wrote the file, told by its content; null while nothing has told. */
export type LeaseFileFamily = IpFamily | null;
