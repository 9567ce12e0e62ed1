import type { IpAddress } from "../address/ip.js";
import type { SettledVerdict } from "../interface/settle-verdicts.js";
import { verdictKey } from "../interface/verdict.js";
import type { Problem } from "../problem.js";
import {
  addressKey,
  advanceTopology,
  vouchedUntil,
  type AddressFacts,
  type Held,
  type RackReport,
  type Topology,
  type TopologyRack,
  type TopologyTimes,
} from "./topology.js";

/**
 * What outlives a restart of one rack's part in a topology: what its addresses count as, and since when it holds them. The report itself is kept
 * with the rack's other facts. Plain data, for JSON. Times in milliseconds since 1970.
 */
export interface StoredRack {
  readonly rack: string;
  readonly reportedAt: number;
  readonly gapFrom: number | null;
  readonly backAt: number | null;
  readonly settled: readonly SettledVerdict[];
  readonly held: readonly { readonly key: string; readonly since: number; readonly unattached: boolean }[];
  readonly problems: readonly Problem[];
  readonly left: readonly IpAddress[];
}

/** When a region went out of sight of its racks, and when it looks again; both in milliseconds since 1970. */
export interface Restart {
  readonly times: TopologyTimes;
  readonly lastAt: number;
  readonly now: number;
}

export function storeRack({ report, reportedAt, gapFrom, backAt, settled, held, problems, left }: TopologyRack): StoredRack {
  return {
    rack: report.rack,
    reportedAt,
    gapFrom,
    backAt,
    settled: [...settled.values()],
    held: [...held.values()].map(({ settled: { verdict }, since, unattached }) => ({
      key: verdictKey(verdict),
      since,
      unattached,
    })),
    problems,
    left,
  };
}

/**
 * A rack as it was known before a restart. Nobody vouches for it since `lastAt`; that it is silent counts only from now on, so that no rack is stale
 * because the region was away. Null when the report is another one than these verdicts were made from: then it must be merged like a new one.
 */
export function restoreRack(stored: StoredRack, report: RackReport, { times, lastAt, now }: Restart): TopologyRack | null {
  const settled = new Map(stored.settled.map((entry) => [verdictKey(entry.verdict), entry]));
  const reported = report.interfaces.flatMap(({ name: interfaceName, addresses }) =>
    addresses.map((observed) => verdictKey({ interfaceName, observed })),
  );
  if (reported.length !== settled.size || reported.some((key) => !settled.has(key))) return null;
  const held = new Map<IpAddress, Held>();
  for (const { key, since, unattached } of stored.held) {
    const entry = settled.get(key);
    if (entry !== undefined) held.set(entry.verdict.observed.address, { settled: entry, since, unattached });
  }
  return {
    report,
    reportedAt: stored.reportedAt,
    lostAt: now,
    gapFrom: vouchedUntil({ at: Math.max(lastAt, stored.reportedAt), times }, stored),
    backAt: null,
    settled,
    held,
    problems: stored.problems,
    servers: { dns: null, ntp: null },
    skewMs: null,
    left: stored.left,
  };
}

/** The topology of a former run. Holders that did not come back with it are dropped; moves, proofs and departures stay. */
export function restoreTopology(
  empty: Topology,
  { racks, addresses }: { readonly racks: readonly TopologyRack[]; readonly addresses: readonly AddressFacts[] },
  now: number,
): Topology {
  let topology = advanceTopology(empty, now);
  for (const facts of racks) topology = { ...topology, racks: topology.racks.set(facts.report.rack, facts) };
  for (const facts of addresses) {
    const key = addressKey(facts.site, facts.address);
    const holders = facts.holders.filter((id) => topology.racks.get(id)?.held.has(facts.address) === true);
    topology = {
      ...topology,
      addresses: topology.addresses.set(key, { ...facts, holders }),
      shared: holders.length > 1 ? topology.shared.set(key, true) : topology.shared,
    };
  }
  return topology;
}
