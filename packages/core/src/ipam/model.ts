import type { HardwareAddress } from "../address/hardware.js";
import type { IpAddress } from "../address/ip.js";
import type { IpPrefix, IpRange } from "../address/prefix.js";
import type { SubnetDhcp } from "../desired/dhcp-settings.js";
import type { DhcpMode } from "../desired/schema.js";

/** A declared network. Times in seconds unless the name says otherwise. */
export interface Subnet {
  /** Small number, given once, never reused. */
  readonly id: number;
  readonly prefix: IpPrefix;
  /** Separates equal private prefixes; `default` where there is one site. */
  readonly site: string;
  readonly gateway: IpAddress | null;
  readonly domain: string;
  readonly mode: DhcpMode;
  /** Mode `window`. */
  readonly window: IpRange | null;
  /** Mode `link-local`: the whole enlistment pool; each link of a rack gets its own slice of `sliceLength`. */
  readonly enlistment: { readonly pool: IpPrefix; readonly sliceLength: number; readonly leaseTime: number } | null;
  /** Another mode: what `enlistment` was when the mode was link-local last, for when it is so again. */
  readonly formerEnlistment?: NonNullable<Subnet["enlistment"]>;
  readonly reserved: readonly IpRange[];
  /** Pinned servers; null means: decided from the topology. */
  readonly dns: readonly IpAddress[] | null;
  readonly ntp: readonly IpAddress[] | null;
  readonly leaseTime: number;
  readonly maxLeaseTime: number;
  /** Options, boot files, failover, relays: left out, the plain ones. */
  readonly dhcp?: SubnetDhcp;
  /** Leases handed out before the lease time was shortened may last until then (milliseconds since 1970). */
  readonly heldUntil?: number;
  readonly createdAt: number;
}

export type MachineState = "enlisted" | "enrolled" | "released";

/** A machine and its NICs. A bond is several NICs that share an address. */
export interface Machine {
  readonly id: string;
  /** Chosen by a person; null keeps the pre-made name of its address. */
  readonly name: string | null;
  readonly state: MachineState;
  readonly nics: readonly HardwareAddress[];
  readonly createdAt: number;
}

export type AllocationKind = "machine" | "additional" | "vip";

/** A static address granted to one holder: one record, one commit. */
export interface Allocation {
  readonly id: string;
  readonly kind: AllocationKind;
  readonly subnetId: number;
  readonly address: IpAddress;
  /** Machine that holds it; for a VIP its owners stand in `owners`. */
  readonly machineId: string | null;
  /** NICs it is served to by DHCP. */
  readonly nics: readonly HardwareAddress[];
  /** Makes the request idempotent: same key, same address. Unique in the region. */
  readonly ownerKey: string;
  /** Fully qualified: chosen, or the pre-made name of the address. */
  readonly name: string;
  readonly owners: readonly string[];
  readonly delivery: "dhcp" | "config" | "both";
  readonly createdAt: number;
}

/**
 * A released address rests until then; nobody else gets it. Times in milliseconds since 1970. The record stays after `until`, so that the address
 * released longest ago is given first, and it outlives its subnet: a new one over the same addresses takes it over.
 */
export interface Quarantine {
  readonly subnetId: number;
  readonly site: string;
  readonly address: IpAddress;
  readonly releasedAt: number;
  readonly until: number;
  /** The NICs that held it, so that the machine's last address comes first. */
  readonly nics: readonly HardwareAddress[];
}

/** `reservation`: set aside by an operator with no holder yet. `exclusion`: never to be given, somebody outside the ledger has it. */
export type ReservationKind = "reservation" | "exclusion";

/** Addresses of a subnet that nobody is given while it stands. */
export interface Reservation {
  readonly id: string;
  readonly subnetId: number;
  readonly kind: ReservationKind;
  readonly first: IpAddress;
  readonly last: IpAddress;
  /** Why, in an operator's words; may be empty. */
  readonly note: string;
  readonly createdAt: number;
}

export type NameRecordType = "A" | "AAAA" | "CNAME" | "TXT";

/** A record that an operator put in a zone, beside the names that allocations have. */
export interface NameRecord {
  readonly id: string;
  /** Fully qualified, folded, A-labels. It lies in the domain of a declared subnet. */
  readonly name: string;
  readonly type: NameRecordType;
  /** An address, a domain name without final dot, or the text itself. */
  readonly value: string;
  readonly createdAt: number;
}

/** What was answered to a request that carried a key of its caller's, so that the same request again gets the same answer. */
export interface KeptAnswer {
  /** Who asked, and the key: unique together. */
  readonly actor: string;
  readonly key: string;
  /** Digest of the request: the same key with another request is refused. */
  readonly request: string;
  /** The answer as JSON. */
  readonly answer: string;
  readonly at: number;
}
