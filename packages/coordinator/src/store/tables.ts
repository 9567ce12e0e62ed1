import type { ApiTokenRecord } from "./api-token-store.js";
import type { Generated } from "kysely";

/** Columns as both engines hold them. Addresses are 16 octets, IPv4 mapped into ::ffff:0:0/96, so that they sort and compare alike; times in ms. */
export interface Tables {
  /** One row: the region's revision, taken by every commit of the ledger. */
  readonly ledger: LedgerTable;
  readonly ledger_change: LedgerChangeTable;
  readonly subnet: SubnetTable;
  readonly machine: { readonly id: string; readonly name: string | null; readonly state: string; readonly created_at: number };
  readonly nic: { readonly hardware_address: string; readonly machine_id: string; readonly position: number };
  readonly allocation: AllocationTable;
  readonly quarantine: QuarantineTable;
  readonly reservation: ReservationTable;
  readonly name_record: NameRecordTable;
  readonly kept_answer: KeptAnswerTable;
  readonly rack: RackTable;
  readonly join_token: JoinTokenTable;
  readonly setting: { readonly name: string; readonly value: string };
  readonly desired: { readonly rack_id: string; readonly generation: number; readonly digest: string; readonly state: string };
  readonly desired_change: { readonly rack_id: string; readonly digest: string; readonly change: string };
  readonly zone_serial: { readonly site: string; readonly origin: string; readonly serial: number; readonly digest: string };
  readonly audit: AuditTable;
  readonly rack_interfaces: { readonly rack_id: string; readonly reported_at: number; readonly interfaces: string };
  readonly topology_rack: { readonly rack_id: string; readonly facts: string };
  readonly topology_address: { readonly site: string; readonly address: Buffer; readonly facts: string };
  readonly wire_record: {
    readonly site: string;
    readonly address: Buffer;
    readonly facts: string;
    readonly saved: Generated<number>;
  };
  readonly vip_move: VipMoveTable;
  readonly api_token: ApiTokenTable;
  readonly rack_lease: { readonly rack_id: string; readonly address: Buffer; readonly lease: string };
}

interface LedgerTable {
  readonly id: number;
  readonly revision: number;
  readonly next_subnet: number;
  /** The commit that made this revision; empty where only one coordinator writes. */
  readonly head: Generated<string>;
}

/** The newest commits, for the other coordinators. */
interface LedgerChangeTable {
  readonly revision: number;
  readonly commit_id: string;
  /** The commit before it: two histories that parted do not fit together. */
  readonly parent: string;
  readonly changes: string;
}

interface SubnetTable {
  readonly id: number;
  readonly site: string;
  readonly family: number;
  readonly first_address: Buffer;
  readonly last_address: Buffer;
  readonly prefix: string;
  readonly gateway: string | null;
  readonly domain: string;
  readonly mode: string;
  /** JSON, like all columns of lists and nested records. */
  readonly window: string | null;
  readonly enlistment: string | null;
  readonly reserved: string;
  readonly dns: string | null;
  readonly ntp: string | null;
  readonly lease_time: number;
  readonly max_lease_time: number;
  readonly dhcp: string | null;
  readonly held_until: number | null;
  readonly created_at: number;
}

interface AllocationTable {
  readonly id: string;
  readonly kind: string;
  readonly subnet_id: number;
  /** Copied from the subnet, held equal by a foreign key, so that a check can bind the address to its prefix and its site. */
  readonly site: string;
  readonly family: number;
  readonly first_address: Buffer;
  readonly last_address: Buffer;
  readonly address: Buffer;
  readonly machine_id: string | null;
  readonly nics: string;
  readonly owner_key: string;
  readonly zone: string;
  readonly name: string;
  readonly owners: string;
  readonly delivery: string;
  readonly created_at: number;
}

interface QuarantineTable {
  readonly site: string;
  readonly address: Buffer;
  readonly family: number;
  readonly subnet_id: number;
  readonly released_at: number;
  readonly until: number;
  readonly nics: string;
}

interface ReservationTable {
  readonly id: string;
  readonly kind: string;
  readonly subnet_id: number;
  /** Copied from the subnet, as in an allocation. */
  readonly site: string;
  readonly family: number;
  readonly subnet_first: Buffer;
  readonly subnet_last: Buffer;
  readonly first_address: Buffer;
  readonly last_address: Buffer;
  readonly note: string;
  readonly created_at: number;
}

interface NameRecordTable {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly value: string;
  readonly created_at: number;
}

interface KeptAnswerTable {
  readonly actor: string;
  readonly key: string;
  readonly request: string;
  readonly answer: string;
  readonly at: number;
}

interface RackTable {
  readonly id: string;
  readonly name: string;
  readonly site: string;
  readonly joined_at: number;
  readonly certificate_serial: string | null;
  readonly public_key_hash: string;
}

interface JoinTokenTable {
  readonly id: string;
  readonly secret_hash: string;
  readonly expires_at: number;
  readonly rack_name: string | null;
  readonly site: string;
  readonly replaces: number;
  readonly used_by: string | null;
  readonly used_at: number | null;
}

interface ApiTokenTable {
  readonly id: string;
  readonly name: string;
  readonly role: ApiTokenRecord["role"];
  readonly digest: string;
  readonly created_at: number;
  readonly created_by: string;
  readonly expires_at: number | null;
}

interface AuditTable {
  readonly number: Generated<number>;
  readonly at: number;
  readonly actor: string;
  readonly action: string;
  readonly subject: string;
  readonly detail: string;
}

interface VipMoveTable {
  readonly number: Generated<number>;
  readonly site: string;
  readonly address: Buffer;
  readonly family: number;
  /** Names, as they were then. */
  readonly from_rack: string;
  readonly to_rack: string;
  readonly at: number;
}
