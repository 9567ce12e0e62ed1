import {
  addressFamily,
  prefixRange,
  type Allocation,
  type KeptAnswer,
  type Machine,
  type NameRecord,
  type Quarantine,
  type Reservation,
  type Subnet,
} from "@berth/core";
import type { Insertable, Selectable } from "kysely";
import { addressBlob, addressFromBlob } from "./address-blob.js";
import type { Tables } from "./tables.js";

type Row<Name extends keyof Tables> = Selectable<Tables[Name]>;
type NewRow<Name extends keyof Tables> = Insertable<Tables[Name]>;

export function subnetRow(subnet: Subnet): NewRow<"subnet"> {
  const { first, last } = prefixRange(subnet.prefix);
  return {
    id: subnet.id,
    site: subnet.site,
    family: addressFamily(first),
    first_address: addressBlob(first),
    last_address: addressBlob(last),
    prefix: subnet.prefix,
    gateway: subnet.gateway,
    domain: subnet.domain,
    mode: subnet.mode,
    window: nullableJson(subnet.window),
    enlistment: nullableJson(subnet.enlistment ?? subnet.formerEnlistment ?? null),
    reserved: JSON.stringify(subnet.reserved),
    dns: nullableJson(subnet.dns),
    ntp: nullableJson(subnet.ntp),
    lease_time: subnet.leaseTime,
    max_lease_time: subnet.maxLeaseTime,
    dhcp: nullableJson(subnet.dhcp ?? null),
    held_until: subnet.heldUntil ?? null,
    created_at: subnet.createdAt,
  };
}

/** Text in the database was written by {@link subnetRow} from checked values, so it is taken as it stands. */
export function subnetFromRow(row: Row<"subnet">): Subnet {
  const enlistment = fromNullableJson<Subnet["enlistment"]>(row.enlistment);
  const dhcp = fromNullableJson<NonNullable<Subnet["dhcp"]>>(row.dhcp);
  const former = row.mode !== "link-local" && enlistment !== null;
  return {
    id: row.id,
    prefix: row.prefix as Subnet["prefix"],
    site: row.site,
    gateway: row.gateway as Subnet["gateway"],
    domain: row.domain,
    mode: row.mode as Subnet["mode"],
    window: fromNullableJson<Subnet["window"]>(row.window),
    enlistment: former ? null : enlistment,
    ...(former ? { formerEnlistment: enlistment } : {}),
    reserved: JSON.parse(row.reserved) as Subnet["reserved"],
    dns: fromNullableJson<Subnet["dns"]>(row.dns),
    ntp: fromNullableJson<Subnet["ntp"]>(row.ntp),
    leaseTime: row.lease_time,
    maxLeaseTime: row.max_lease_time,
    ...(dhcp === null ? {} : { dhcp }),
    ...(row.held_until === null ? {} : { heldUntil: row.held_until }),
    createdAt: row.created_at,
  };
}

export function machineRow(machine: Machine): NewRow<"machine"> {
  return { id: machine.id, name: machine.name, state: machine.state, created_at: machine.createdAt };
}

export function nicRows({ id, nics }: Machine): NewRow<"nic">[] {
  return nics.map((nic, position) => ({ hardware_address: nic, machine_id: id, position }));
}

export function machineFromRow(row: Row<"machine">, nics: Machine["nics"]): Machine {
  return { id: row.id, name: row.name, state: row.state as Machine["state"], nics, createdAt: row.created_at };
}

/** What an allocation copies from the subnet it stands in, as it is at that moment of the transaction. */
export type Place = Pick<Row<"subnet">, "site" | "family" | "first_address" | "last_address" | "domain">;

export function allocationRow(allocation: Allocation, place: Place): NewRow<"allocation"> {
  return {
    id: allocation.id,
    kind: allocation.kind,
    subnet_id: allocation.subnetId,
    site: place.site,
    family: place.family,
    first_address: place.first_address,
    last_address: place.last_address,
    address: addressBlob(allocation.address),
    machine_id: allocation.machineId,
    nics: JSON.stringify(allocation.nics),
    owner_key: allocation.ownerKey,
    zone: place.domain,
    name: allocation.name,
    owners: JSON.stringify(allocation.owners),
    delivery: allocation.delivery,
    created_at: allocation.createdAt,
  };
}

export function allocationFromRow(row: Row<"allocation">): Allocation {
  return {
    id: row.id,
    kind: row.kind as Allocation["kind"],
    subnetId: row.subnet_id,
    address: addressFromBlob(row.address, row.family === 4 ? 4 : 6),
    machineId: row.machine_id,
    nics: JSON.parse(row.nics) as Allocation["nics"],
    ownerKey: row.owner_key,
    name: row.name,
    owners: JSON.parse(row.owners) as Allocation["owners"],
    delivery: row.delivery as Allocation["delivery"],
    createdAt: row.created_at,
  };
}

export function quarantineRow(quarantine: Quarantine): NewRow<"quarantine"> {
  return {
    site: quarantine.site,
    address: addressBlob(quarantine.address),
    family: addressFamily(quarantine.address),
    subnet_id: quarantine.subnetId,
    released_at: quarantine.releasedAt,
    until: quarantine.until,
    nics: JSON.stringify(quarantine.nics),
  };
}

export function quarantineFromRow(row: Row<"quarantine">): Quarantine {
  return {
    subnetId: row.subnet_id,
    site: row.site,
    address: addressFromBlob(row.address, row.family === 4 ? 4 : 6),
    releasedAt: row.released_at,
    until: row.until,
    nics: JSON.parse(row.nics) as Quarantine["nics"],
  };
}

export function reservationRow(reservation: Reservation, place: Place): NewRow<"reservation"> {
  return {
    id: reservation.id,
    kind: reservation.kind,
    subnet_id: reservation.subnetId,
    site: place.site,
    family: place.family,
    subnet_first: place.first_address,
    subnet_last: place.last_address,
    first_address: addressBlob(reservation.first),
    last_address: addressBlob(reservation.last),
    note: reservation.note,
    created_at: reservation.createdAt,
  };
}

export function reservationFromRow(row: Row<"reservation">): Reservation {
  const family = row.family === 4 ? 4 : 6;
  return {
    id: row.id,
    subnetId: row.subnet_id,
    kind: row.kind as Reservation["kind"],
    first: addressFromBlob(row.first_address, family),
    last: addressFromBlob(row.last_address, family),
    note: row.note,
    createdAt: row.created_at,
  };
}

export function nameRecordRow({ id, name, type, value, createdAt }: NameRecord): NewRow<"name_record"> {
  return { id, name, type, value, created_at: createdAt };
}

export function nameRecordFromRow(row: Row<"name_record">): NameRecord {
  return { id: row.id, name: row.name, type: row.type as NameRecord["type"], value: row.value, createdAt: row.created_at };
}

export function keptAnswerRow({ actor, key, request, answer, at }: KeptAnswer): NewRow<"kept_answer"> {
  return { actor, key, request, answer, at };
}

export function keptAnswerFromRow({ actor, key, request, answer, at }: Row<"kept_answer">): KeptAnswer {
  return { actor, key, request, answer, at };
}

function nullableJson(value: unknown): string | null {
  return value === null ? null : JSON.stringify(value);
}

function fromNullableJson<T>(text: string | null): T | null {
  return text === null ? null : (JSON.parse(text) as T);
}
