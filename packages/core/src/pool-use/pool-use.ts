import { addressFamily, addressValue, ipv4Number, type IpAddress } from "../address/ip.js";
import { rangeSize } from "../address/ranges.js";
import type { Problem } from "../problem.js";
import type { LeaseReport } from "../protocol/messages.js";
import type { ServedPool } from "./served-pools.js";

/** How full the addresses for unknown machines of one subnet are. */
export interface PoolUse {
  readonly pool: ServedPool;
  /** An IPv6 window may have more than a number counts exactly. */
  readonly total: bigint;
  /** In use, or not to be had by anybody: abandoned, reserved, unreadable. */
  readonly used: number;
  /** When the newest lease in use was given or extended, seconds since 1970; null when there is none. */
  readonly newestGrant: number | null;
}

type CountedLease = Pick<LeaseReport, "address" | "state" | "inUse" | "allocatable" | "starts">;

interface Tally {
  used: number;
  newestGrant: number | null;
}

interface Run<Place> {
  readonly first: Place;
  readonly last: Place;
  readonly tally: Tally;
}

/** Counts leases into the pools that hold them, each by a search in the ranges: a table of leases is walked once for all pools. */
export class PoolCount {
  readonly #pools: readonly { readonly pool: ServedPool; readonly tally: Tally }[];
  /** IPv4 addresses as numbers: there are many more of them, and bigints are slow. */
  readonly #runs4: readonly Run<number>[];
  readonly #runs6: readonly Run<bigint>[];

  constructor(pools: readonly ServedPool[]) {
    this.#pools = pools.map((pool) => ({ pool, tally: { used: 0, newestGrant: null } }));
    const ranges = this.#pools.flatMap(({ pool, tally }) => pool.ranges.map(({ first, last }) => ({ first, last, tally })));
    this.#runs4 = runsOf(ranges, 4, ipv4Number);
    this.#runs6 = runsOf(ranges, 6, addressValue);
  }

  /** One lease of the table; each address may be added once. */
  add(lease: CountedLease): void {
    const { address } = lease;
    const is4 = addressFamily(address) === 4;
    const tally = is4 ? findTally(this.#runs4, ipv4Number(address)) : findTally(this.#runs6, addressValue(address));
    if (tally === null) return;
    if (isTaken(lease)) tally.used++;
    if (lease.inUse && lease.starts !== null && lease.starts > (tally.newestGrant ?? -1)) tally.newestGrant = lease.starts;
  }

  uses(): readonly PoolUse[] {
    return this.#pools.map(({ pool, tally }) => ({ pool, total: addressesOf(pool), ...tally }));
  }
}

function runsOf<Place extends number | bigint>(
  ranges: readonly Run<IpAddress>[],
  family: 4 | 6,
  place: (address: IpAddress) => Place,
): readonly Run<Place>[] {
  return ranges
    .filter(({ first }) => addressFamily(first) === family)
    .map(({ first, last, tally }) => ({ first: place(first), last: place(last), tally }))
    .sort((a, b) => (a.first < b.first ? -1 : 1));
}

function findTally<Place extends number | bigint>(runs: readonly Run<Place>[], address: Place): Tally | null {
  let [low, high] = [0, runs.length - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    const run = runs[middle];
    if (run === undefined || address < run.first) high = middle - 1;
    else if (address > run.last) low = middle + 1;
    else return run.tally;
  }
  return null;
}

/** What a failover partner holds, or what both have yet to agree on, will be given: the pair shares the pool. A free lease that may not be given is reserved. */
function isTaken({ state, inUse, allocatable }: CountedLease): boolean {
  return inUse || state === "abandoned" || state === "unknown" || (state === "free" && !allocatable);
}

function addressesOf({ ranges }: ServedPool): bigint {
  return ranges.reduce((sum, range) => sum + rangeSize(range), 0n);
}

interface Limits {
  /** From this share on, percent. */
  readonly usedPercentMin: bigint;
  /** And only with fewer free addresses than this: 80 % of a /16 leaves thousands. */
  readonly freeMax: bigint;
}

/** Where the alarm begins. */
const BEGINS: Limits = { usedPercentMin: 80n, freeMax: 16n };
/** And where it goes on: a machine that comes and goes at the limit must not ring it each time. */
const GOES_ON: Limits = { usedPercentMin: 75n, freeMax: 20n };

/** The subnets, by number, whose pools are nearly exhausted: both a high share is used and few addresses are left. `before` is the answer of the last count. */
export function shortPools(uses: readonly PoolUse[], before: ReadonlySet<number>): ReadonlySet<number> {
  const short = uses.filter((use) => isWithin(use, before.has(use.pool.subnetId) ? GOES_ON : BEGINS));
  return new Set(short.map(({ pool }) => pool.subnetId));
}

/** `pool-nearly-exhausted` for each of these subnets. */
export function poolProblems(uses: readonly PoolUse[], short: ReadonlySet<number>): readonly Problem[] {
  return uses
    .filter(({ pool }) => short.has(pool.subnetId))
    .map(({ pool, used, total }) => ({
      code: "pool-nearly-exhausted",
      at: `subnet ${pool.prefix}`,
      message: `${used} of the ${total} addresses for unknown machines are used, ${total - BigInt(used)} free`,
      remedy: "widen the window or slice, shorten its lease time, or give known machines addresses of their own",
    }));
}

function isWithin({ used, total }: PoolUse, { freeMax, usedPercentMin }: Limits): boolean {
  return total > 0n && BigInt(used) * 100n >= total * usedPercentMin && total - BigInt(used) < freeMax;
}
