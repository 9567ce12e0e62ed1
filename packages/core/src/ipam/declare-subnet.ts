import type { IpAddress } from "../address/ip.js";
import { parseIpPrefix, prefixContains, type IpPrefix } from "../address/prefix.js";
import { changeSubnetDhcp } from "../desired/dhcp-settings.js";
import { foldName } from "../names/host-name.js";
import { accepted, refused, type Problem, type Result } from "../problem.js";
import type { LedgerChange } from "./change.js";
import { ENLISTMENT_POOL, SLICE_LENGTH } from "./check-enlistment.js";
import { checkSubnet, describeHolder } from "./check-subnet.js";
import type { Decision } from "./decision.js";
import { domainOfName } from "./domain-of-name.js";
import { quarantineKey, type LedgerState } from "./ledger-state.js";
import type { Allocation, Quarantine, Subnet } from "./model.js";
import { isIn, restLeased } from "./rest-leased.js";
import { releaseUntil } from "./rest-time.js";
import type { SubnetRequest } from "./request.js";
import type { RackView } from "../topology/rack-view.js";

const SUBNETS_MAX = 4096;
const LEASE_TIME = 600;
const MAX_LEASE_TIME = 1200;
const ENLISTMENT_LEASE_TIME = 60;
const NAMED_MAX = 5;

/** Declares a subnet, or says everything that speaks against it. `now` in milliseconds since 1970. */
export function declareSubnet(state: LedgerState, request: SubnetRequest, now: number): Result<Decision<Subnet>> {
  const prefix = parseIpPrefix(request.prefix);
  if (!prefix.ok) return prefix;
  if (state.subnets.size >= SUBNETS_MAX) {
    const message = `the ledger has ${SUBNETS_MAX} subnets, its limit`;
    return refused({ code: "subnets-too-many", at: "subnets", message, remedy: "remove subnets that are no longer used" });
  }
  const id = state.nextSubnetId;
  const subnet = build({ ...request }, { id, prefix: prefix.value, createdAt: now });
  const problems = checkSubnet(subnet, state);
  if (problems.length > 0) return refused(...problems);
  const changes: LedgerChange[] = [
    { table: "next-subnet", before: id, after: id + 1 },
    { table: "subnet", before: null, after: subnet },
    ...takeOverResting(state, subnet, now),
  ];
  return accepted({ value: subnet, changes });
}

/**
 * Changes what the request names and keeps the rest. Prefix and site stay. What leaves the window while one of `racks` sees it leased rests until its
 * holder must have left it.
 */
export function changeSubnet(
  state: LedgerState,
  request: { readonly id: number; readonly change: Partial<SubnetRequest>; readonly racks?: readonly RackView[] },
  now: number,
): Result<Decision<Subnet>> {
  const before = state.subnets.get(request.id);
  if (before === undefined) return refused(unknownSubnet(String(request.id)));
  const fixed = checkFixed(before, request.change);
  if (fixed.length > 0) return refused(...fixed);
  const built = withFormerEnlistment(before, build(merged(before, request.change), before), request.change);
  const after = withHeldUntil(before, built, now);
  const problems = checkSubnet(after, state);
  if (problems.length > 0) return refused(...problems);
  const names = after.domain === before.domain ? [] : namesLeftBehind(state, before);
  if (names.length > 0) return refused(...names);
  const renames = after.domain === before.domain ? accepted([]) : renameAllocations(state, { before, after });
  if (!renames.ok) return renames;
  if (JSON.stringify(before) === JSON.stringify(after)) return accepted({ value: before, changes: [] });
  const kept = after.mode === "window" ? after.window : null;
  const rests = restLeased(state, { subnet: before, leaves: (address) => !isIn(kept, address), racks: request.racks ?? [], now });
  return accepted({ value: after, changes: [{ table: "subnet", before, after }, ...renames.value, ...rests] });
}

/** Removes a subnet in which nothing is allocated. Its resting addresses go on resting. */
export function removeSubnet(
  state: LedgerState,
  { id, racks = [] }: { readonly id: number; readonly racks?: readonly RackView[] },
  now: number,
): Result<Decision<Subnet>> {
  const before = state.subnets.get(id);
  if (before === undefined) return refused(unknownSubnet(String(id)));
  const allocations = [...state.spaceOf(id).allocations.values()];
  if (allocations.length > 0) {
    const named = allocations.slice(0, NAMED_MAX).map((allocation) => `${allocation.address} of ${describeHolder(allocation)}`);
    const more = allocations.length > NAMED_MAX ? ` and ${allocations.length - NAMED_MAX} more` : "";
    const message = `${before.prefix} still has ${named.join(", ")}${more}`;
    return refused({ code: "subnet-in-use", at: `subnet ${id}`, message, remedy: "release those machines first" });
  }
  const names = namesLeftBehind(state, before);
  if (names.length > 0) return refused(...names);
  const unreserve = [...state.spaceOf(id).reservations].map(
    (reservation): LedgerChange => ({ table: "reservation", before: reservation, after: null }),
  );
  const rested = [...state.spaceOf(id).rest.values()].filter(({ until }) => until <= now);
  const forget = rested.map((quarantine): LedgerChange => ({ table: "quarantine", before: quarantine, after: null }));
  const rests = restLeased(state, { subnet: before, leaves: () => true, racks, now });
  return accepted({ value: before, changes: [...unreserve, ...forget, ...rests, { table: "subnet", before, after: null }] });
}

/** Operators' records would lie in no zone when the last subnet of their domain goes. */
function namesLeftBehind(state: LedgerState, { domain }: Subnet): Problem[] {
  if (state.subnetsByDomain.of(domain).length > 1) return [];
  const left = [...state.records.values()].filter(({ name }) => domainOfName(state, name) === domain);
  if (left.length === 0) return [];
  const named = left.slice(0, NAMED_MAX).map(({ id, name }) => `${name} (${id})`);
  const more = left.length > NAMED_MAX ? ` and ${left.length - NAMED_MAX} more` : "";
  const message = `records stand in ${domain}, which no other subnet has: ${named.join(", ")}${more}`;
  return [{ code: "domain-in-use", at: "domain", message, remedy: "remove them first with `berth name remove`" }];
}

export function unknownSubnet(subnet: string): Problem {
  const message = `there is no subnet ${subnet}`;
  return { code: "subnet-unknown", at: "subnet", message, remedy: "list the subnets with `berth subnet list`" };
}

function build(request: SubnetRequest, fixed: { id: number; prefix: IpPrefix; createdAt: number }): Subnet {
  const { mode } = request;
  const wish = request.enlistment ?? null;
  const enlistment = wish ?? (mode === "link-local" ? {} : null);
  const dhcp = changeSubnetDhcp(undefined, request.dhcp ?? null);
  return {
    id: fixed.id,
    prefix: fixed.prefix,
    site: request.site ?? "default",
    gateway: request.gateway ?? null,
    domain: foldName(request.domain),
    mode,
    window: request.window ?? null,
    enlistment: enlistment && {
      pool: enlistment.pool ?? ENLISTMENT_POOL,
      sliceLength: enlistment.sliceLength ?? SLICE_LENGTH,
      leaseTime: enlistment.leaseTime ?? ENLISTMENT_LEASE_TIME,
    },
    reserved: request.reserved ?? [],
    dns: distinct(request.dns ?? null),
    ntp: distinct(request.ntp ?? null),
    leaseTime: request.leaseTime ?? LEASE_TIME,
    maxLeaseTime: request.maxLeaseTime ?? Math.max(MAX_LEASE_TIME, request.leaseTime ?? 0),
    ...(dhcp === null ? {} : { dhcp }),
    createdAt: fixed.createdAt,
  };
}

function distinct(addresses: readonly IpAddress[] | null): readonly IpAddress[] | null {
  return addresses === null ? null : [...new Set(addresses)];
}

/**
 * A mode that has no window or no pool drops the one the old mode had, unless the change itself names one. Of the pool the change names what is
 * different: the rest is as it was, also when the subnet had another mode meanwhile.
 */
function merged(before: Subnet, change: Partial<SubnetRequest>): SubnetRequest {
  const mode = change.mode ?? before.mode;
  const known = before.enlistment ?? before.formerEnlistment ?? null;
  const named = change.enlistment;
  return {
    ...before,
    window: mode === "window" ? before.window : null,
    ...change,
    enlistment: named === undefined ? (mode === "link-local" ? known : null) : named && { ...known, ...named },
    dhcp: change.dhcp === undefined ? (before.dhcp ?? null) : changeSubnetDhcp(before.dhcp, change.dhcp),
    prefix: before.prefix,
    site: before.site,
  };
}

/** An enlistment that the change names as null is forgotten for good. */
function withFormerEnlistment(before: Subnet, after: Subnet, { enlistment }: Partial<SubnetRequest>): Subnet {
  const known = before.enlistment ?? before.formerEnlistment;
  return after.enlistment !== null || known === undefined || enlistment === null ? after : { ...after, formerEnlistment: known };
}

function checkFixed(before: Subnet, change: Partial<SubnetRequest>): Problem[] {
  const problems: Problem[] = [];
  if (change.prefix !== undefined) {
    const prefix = parseIpPrefix(change.prefix);
    if (!prefix.ok) problems.push(...prefix.problems);
    else if (prefix.value !== before.prefix) problems.push(fixedProblem("prefix", before.prefix));
  }
  if (change.site !== undefined && change.site !== before.site) problems.push(fixedProblem("site", before.site));
  return problems;
}

function fixedProblem(at: string, value: string): Problem {
  const message = `the ${at} of a subnet stays ${value}`;
  return { code: "subnet-fixed", at, message, remedy: "declare another subnet and move the machines there" };
}

/** Whoever got a lease under the longer time may hold it that long: released addresses must rest until then. */
function withHeldUntil(before: Subnet, after: Subnet, now: number): Subnet {
  const shortened = after.maxLeaseTime < before.maxLeaseTime ? releaseUntil(before, now) : 0;
  const heldUntil = Math.max(shortened, before.heldUntil ?? 0);
  return heldUntil > now ? { ...after, heldUntil } : after;
}

function renameAllocations(state: LedgerState, { before, after }: { before: Subnet; after: Subnet }): Result<LedgerChange[]> {
  const changes: LedgerChange[] = [];
  const problems: Problem[] = [];
  for (const allocation of state.spaceOf(before.id).allocations.values()) {
    const name = `${allocation.name.slice(0, -before.domain.length)}${after.domain}`;
    const record = state.recordsByName.of(name).find(({ type }) => type !== "TXT");
    if (record !== undefined) {
      const message = `${name} has the ${record.type} record ${record.value} (${record.id})`;
      problems.push({ code: "name-taken", at: "domain", message, remedy: "remove that record first" });
    }
    const holder = state.allocationByName.get(name);
    if (holder !== undefined && holder.subnetId !== before.id) {
      const message = `${name} is already the name of ${holder.address} (${describeHolder(holder)})`;
      problems.push({ code: "name-taken", at: "domain", message, remedy: "rename one of the two machines first" });
    }
    changes.push({ table: "allocation", before: allocation, after: { ...allocation, name } satisfies Allocation });
  }
  return problems.length > 0 ? refused(...problems) : accepted(changes);
}

/** Addresses that an earlier subnet over the same prefix released go on resting in this one. */
function takeOverResting(state: LedgerState, subnet: Subnet, now: number): LedgerChange[] {
  const left: Quarantine[] = [];
  for (const quarantine of state.quarantines.values()) {
    const orphan = !state.subnets.has(quarantine.subnetId);
    if (orphan && quarantine.site === subnet.site && prefixContains(subnet.prefix, quarantine.address)) left.push(quarantine);
  }
  return left
    .sort((a, b) => (quarantineKey(a) < quarantineKey(b) ? -1 : 1))
    .map((before) => ({ table: "quarantine", before, after: before.until > now ? { ...before, subnetId: subnet.id } : null }));
}
