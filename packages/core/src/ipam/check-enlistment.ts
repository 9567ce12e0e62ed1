import {
  ipPrefix,
  prefixContains,
  prefixesOverlap,
  prefixFamily,
  prefixLength,
  prefixNetwork,
  type IpPrefix,
} from "../address/prefix.js";
import type { Problem } from "../problem.js";
import type { LedgerState } from "./ledger-state.js";
import type { Subnet } from "./model.js";

/** The documented choice; RFC 3927 §1.6 advises against it, design 3.6 states the trade. */
export const ENLISTMENT_POOL: IpPrefix = ipPrefix("169.254.0.0/16");
export const SLICE_LENGTH = 20;
/** A slice still holds the rack itself and a handful of machines. */
const SLICE_LENGTH_MAX = 28;
/** Seconds. Short, so that an enrolled machine moves soon; a T1 of 15 s is what a busy rack still answers without effort. */
const LEASE_TIME_MIN = 30;
const LEASE_TIME_MAX = 3600;

/** Problems of the enlistment pool of a subnet in mode `link-local`. */
export function checkEnlistment(subnet: Subnet, state: LedgerState): readonly Problem[] {
  const { enlistment, mode } = subnet;
  if (enlistment === null) return [];
  if (mode !== "link-local") {
    const message = `an enlistment pool means nothing in mode ${mode}`;
    return [{ code: "enlistment-without-mode", at: "enlistment", message, remedy: "use mode link-local, or leave it out" }];
  }
  if (prefixFamily(subnet.prefix) === 6) {
    const message = `${subnet.prefix} is IPv6, and strangers enlist over IPv4`;
    const remedy = "use mode link-local on the IPv4 subnet of the link, and static or window here";
    return [{ code: "enlistment-family", at: "mode", message, remedy }];
  }
  const { pool, sliceLength, leaseTime } = enlistment;
  if (prefixFamily(pool) !== 4) {
    const message = `the pool ${pool} is not IPv4`;
    return [{ code: "enlistment-pool-family", at: "enlistment.pool", message, remedy: `use ${ENLISTMENT_POOL}` }];
  }
  const problems: Problem[] = [];
  const lengthMin = prefixLength(pool) + (isLinkLocal(pool) ? 1 : 0);
  if (!Number.isInteger(sliceLength) || sliceLength < lengthMin || sliceLength > SLICE_LENGTH_MAX) {
    const message = `slices of length ${sliceLength} do not fit the pool ${pool}`;
    const fits = lengthMin <= SLICE_LENGTH_MAX;
    const remedy = fits ? `use a length from ${lengthMin} to ${SLICE_LENGTH_MAX}` : "use a larger pool";
    problems.push({ code: "enlistment-slice-invalid", at: "enlistment.sliceLength", message, remedy });
  }
  if (!Number.isInteger(leaseTime) || leaseTime < LEASE_TIME_MIN || leaseTime > LEASE_TIME_MAX) {
    const message = `an enlistment lease of ${leaseTime} seconds`;
    const remedy = `use ${LEASE_TIME_MIN} to ${LEASE_TIME_MAX} seconds; 60 to 120 are usual`;
    problems.push({ code: "enlistment-lease-time", at: "enlistment.leaseTime", message, remedy });
  }
  return [...problems, ...checkPoolNeighbours(subnet, { pool, sliceLength }, state)];
}

function checkPoolNeighbours(
  subnet: Subnet,
  { pool, sliceLength }: { readonly pool: IpPrefix; readonly sliceLength: number },
  state: LedgerState,
): Problem[] {
  const problems: Problem[] = [];
  if (prefixesOverlap(pool, subnet.prefix)) problems.push(poolOverlaps(pool, `${subnet.prefix} itself`));
  for (const other of state.subnets.values()) {
    if (other.id === subnet.id || other.site !== subnet.site) continue;
    if (prefixesOverlap(pool, other.prefix)) problems.push(poolOverlaps(pool, `subnet ${other.id}, ${other.prefix}`));
    const theirs = other.enlistment;
    if (theirs === null || !prefixesOverlap(pool, theirs.pool)) continue;
    if (theirs.pool === pool && theirs.sliceLength === sliceLength) continue;
    const message = `subnet ${other.id} cuts ${theirs.pool} into /${theirs.sliceLength}, this one ${pool} into /${sliceLength}`;
    const remedy = "use the same pool and slice length for all subnets of a site, or pools that do not overlap";
    problems.push({ code: "enlistment-pools-differ", at: "enlistment", message, remedy });
  }
  return problems;
}

/** Pools of a site that a newly declared prefix would overlap. */
export function checkPrefixAgainstPools(subnet: Subnet, state: LedgerState): readonly Problem[] {
  const problems: Problem[] = [];
  for (const other of state.subnets.values()) {
    if (other.id === subnet.id || other.site !== subnet.site || other.enlistment === null) continue;
    if (!prefixesOverlap(other.enlistment.pool, subnet.prefix)) continue;
    const message = `${subnet.prefix} overlaps the enlistment pool ${other.enlistment.pool} of subnet ${other.id}`;
    problems.push({
      code: "subnet-overlaps-pool",
      at: "prefix",
      message,
      remedy: "choose another prefix, or change that pool first",
    });
  }
  return problems;
}

/** 169.254/16 keeps its first and last 256 addresses (RFC 3927 §2.1), so the slice around the first goes unused. */
export function isLinkLocal(pool: IpPrefix): boolean {
  return prefixContains(ENLISTMENT_POOL, prefixNetwork(pool));
}

function poolOverlaps(pool: IpPrefix, what: string): Problem {
  const message = `the enlistment pool ${pool} overlaps ${what}`;
  return {
    code: "enlistment-pool-overlaps",
    at: "enlistment.pool",
    message,
    remedy: `use ${ENLISTMENT_POOL} or another free block`,
  };
}
