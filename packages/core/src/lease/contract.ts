import { formatTime } from "./dhcpd/time-value.js";
import { ethernetOf, ethernetOfDuid } from "./hardware-of.js";
import { dnsLabelOf } from "../names/client-name.js";
import { decodeHostname, trimHostname } from "./hostname.js";
import type { HostDeclaration, Lease4, Lease6, LeaseValue } from "./model.js";
import { formatColonHex, formatHex } from "./octets.js";
import type { LeaseReader } from "./reader.js";
import { allocatableAt, inUseAt, stateAt } from "./standing.js";

/** A lease as `berth-agent leases --json` prints it: a stable contract (design, section 5). Times ISO 8601 UTC, `never`, or null for unknown. */
export function lease4Contract(lease: Lease4, now: number) {
  const { hardware } = lease;
  const raw = lease.clientHostname === null ? null : decodeHostname(lease.clientHostname);
  const hostname = raw === null ? null : trimHostname(raw);
  return {
    state: stateAt(lease, now),
    in_use: inUseAt(lease, now),
    mac: ethernetOf(hardware),
    hw_type: hardware?.type ?? null,
    hw_len: hardware?.octets.length ?? null,
    hw_addr: hardware === null ? null : formatColonHex(hardware.octets),
    uid_hex: lease.clientId === null ? null : formatHex(lease.clientId),
    hostname,
    hostname_raw: raw,
    dns_label: hostname === null ? null : dnsLabelOf(hostname),
    starts: formatTime(lease.starts),
    ends: formatTime(lease.ends),
    allocatable: allocatableAt(lease, now),
    bootp: lease.bootp,
    reserved: lease.reserved,
    sets: contractValues(lease.sets),
    agent: contractValues(lease.agent),
  };
}

export function lease6Contract(lease: Lease6, now: number) {
  return {
    state: stateAt(lease, now),
    in_use: inUseAt(lease, now),
    mac: ethernetOfDuid(lease.duid),
    type: lease.type,
    iaid: lease.iaid,
    duid_hex: formatHex(lease.duid),
    cltt: formatTime(lease.cltt),
    ends: formatTime(lease.ends),
    preferred_life: lease.preferredLife,
    max_life: lease.maxLife,
    allocatable: allocatableAt(lease, now),
  };
}

export function hostContract(host: HostDeclaration) {
  return {
    mac: ethernetOf(host.hardware),
    uid_hex: host.clientId === null ? null : formatHex(host.clientId),
    fixed: host.fixedAddresses,
    hostname: host.hostname,
    next_server: host.nextServer,
  };
}

/** Everything that was understood of a file, as of `now` (ms). Names of the file are keys of objects without a prototype. */
export function leasesContract(reader: LeaseReader, now: number) {
  const leases = bare<ReturnType<typeof lease4Contract>>();
  const leases6 = bare<ReturnType<typeof lease6Contract>>();
  for (const lease of reader.table.leases()) {
    if (lease.family === 4) leases[lease.key] = lease4Contract(lease, now);
    else leases6[lease.key] = lease6Contract(lease, now);
  }
  const hosts = bare<ReturnType<typeof hostContract>>();
  for (const [name, host] of reader.table.hosts) hosts[name] = hostContract(host);
  const failover = bare<{ my: string | null; partner: string | null }>();
  for (const [name, { my, partner }] of reader.table.failover) failover[name] = { my, partner };
  return { leases, leases6, hosts, failover, pending_tail: reader.pendingTail, diagnostics: reader.diagnostics() };
}
export type LeasesContract = ReturnType<typeof leasesContract>;

/** Octets go under `NAME_hex`, everything else under its own name. */
function contractValues(values: ReadonlyMap<string, LeaseValue>): Record<string, string | number | boolean> {
  const object = bare<string | number | boolean>();
  for (const [name, value] of values) {
    if (value instanceof Uint8Array) object[`${name}_hex`] = formatHex(value);
    else object[name] = value;
  }
  return object;
}

/** Hostile names (`__proto__`) are keys like all others. */
function bare<T>(): Record<string, T> {
  return Object.create(null) as Record<string, T>;
}
