import { addressFamily, ipv4Number } from "../address/ip.js";
import type { Problem } from "../problem.js";
import type { LeaseReport } from "../protocol/messages.js";
import type { ServedPool } from "./served-pools.js";

/** How full the addresses for unknown machines of one subnet are. */
export interface PoolUse {
  readonly pool: ServedPool;
  readonly total: number;
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

interface Run {
  readonly first: number;
  readonly last: number;
  readonly tally: Tally;
}

/** Counts leases into the pools that hold them, each by a search in the ranges: a table of leases is walked once for all pools. */
export class PoolCount {
  readonly #pools: readonly { readonly pool: ServedPool; readonly tally: Tally }[];
  readonly #runs: readonly Run[];

  constructor(pools: readonly ServedPool[]) {
    this.#pools = pools.map((pool) => ({ pool, tally: { used: 0, newestGrant: null } }));
    this.#runs = this.#pools
      .flatMap(({ pool, tally }) =>
        pool.ranges.map(({ first, last }) => ({ first: ipv4Number(first), last: ipv4Number(last), tally })),
      )
      .sort((a, b) => a.first - b.first);
  }

  /** One lease of the table; each address may be added once. */
  add(lease: CountedLease): void {
    const tally = addressFamily(lease.address) === 4 ? this.#find(ipv4Number(lease.address)) : null;
    if (tally === null) return;
    if (isTaken(lease)) tally.used++;
    if (lease.inUse && lease.starts !== null && lease.starts > (tally.newestGrant ?? -1)) tally.newestGrant = lease.starts;
  }

  uses(): readonly PoolUse[] {
    return this.#pools.map(({ pool, tally }) => ({ pool, total: addressesOf(pool), ...tally }));
  }

  #find(address: number): Tally | null {
    let [low, high] = [0, this.#runs.length - 1];
    while (low <= high) {
      const middle = (low + high) >> 1;
      const run = this.#runs[middle];
      if (run === undefined || address < run.first) high = middle - 1;
      else if (address > run.last) low = middle + 1;
      else return run.tally;
    }
    return null;
  }
}

/** What a failover partner holds, or what both have yet to agree on, will be given: the pair shares the pool. A free lease that may not be given is reserved. */
function isTaken({ state, inUse, allocatable }: CountedLease): boolean {
  return inUse || state === "abandoned" || state === "unknown" || (state === "free" && !allocatable);
}

function addressesOf({ ranges }: ServedPool): number {
  return ranges.reduce((sum, { first, last }) => sum + ipv4Number(last) - ipv4Number(first) + 1, 0);
}

/** From this share on a pool may be nearly exhausted, percent. */
const USED_PERCENT_MIN = 80;
/** And only with fewer free addresses than this: 80 % of a /16 leaves thousands. */
const FREE_MAX = 16;

/** `pool-nearly-exhausted` for each pool of which both a high share is used and few addresses are left. */
export function poolProblems(uses: readonly PoolUse[]): readonly Problem[] {
  return uses.filter(isNearlyExhausted).map(({ pool, used, total }) => ({
    code: "pool-nearly-exhausted",
    at: `subnet ${pool.prefix}`,
    message: `${used} of the ${total} addresses for unknown machines are used, ${total - used} free`,
    remedy: "widen the window or slice, shorten its lease time, or give known machines addresses of their own",
  }));
}

function isNearlyExhausted({ used, total }: PoolUse): boolean {
  return total > 0 && used * 100 >= total * USED_PERCENT_MIN && total - used < FREE_MAX;
}
