import type { IpAddress } from "../address/ip.js";
import { isUnattached } from "../interface/address-marks.js";
import { judgeAddresses } from "../interface/judge-addresses.js";
import { settleVerdicts, standingVerdict, type SettledVerdict } from "../interface/settle-verdicts.js";
import { hasFlag, mergeByAddress, verdictKey } from "../interface/verdict.js";
import { addressAppears, addressLeaves } from "./address-moves.js";
import {
  addressKey,
  advanceTopology,
  type AddressFacts,
  type Held,
  type TopologyStep,
  type TopologyRack,
  type RackReport,
  type Topology,
  type TopologyEvent,
  vouchedUntil,
} from "./topology.js";

/** Departed addresses remembered a rack: more come only from a host whose addresses churn. */
const LEFT_MAX = 64;

/**
 * One rack's report into the topology: it replaces that rack's previous one whole, unless it is empty (a failed scan) or overtaken by a newer one.
 * Costs what the rack's own addresses cost, whatever the size of the fleet. `now` in milliseconds, never less than before.
 */
export function mergeReport(topology: Topology, report: RackReport, now: number): TopologyStep {
  const current = advanceTopology(topology, now);
  const known = current.racks.get(report.rack);
  if (known !== undefined && isOvertaken(known.report, report)) return ignored(current, report, "overtaken");
  const next = judged(current, known, report);
  if (isEmpty(next, known)) return ignored(current, report, "empty");
  const skewed: readonly TopologyEvent[] =
    next.skewMs !== null && Math.abs(next.skewMs) > current.times.skewMs
      ? [{ type: "clock-skew", rack: report.rack, skewMs: next.skewMs }]
      : [];
  const merged = replaceRack(current, known, next);
  return { topology: merged.topology, events: [...skewed, ...merged.events] };
}

/** Judges a rack's last report anew, after what the region knows has changed. */
export function rejudgeRack(topology: Topology, rack: string): TopologyStep {
  const known = topology.racks.get(rack);
  if (known === undefined) return { topology, events: [] };
  const next = judged(topology, known, known.report);
  return replaceRack(topology, known, {
    ...next,
    reportedAt: known.reportedAt,
    lostAt: known.lostAt,
    gapFrom: known.gapFrom,
    backAt: known.backAt,
  });
}

/** Forgets a rack: an operator removed it. Its addresses are nobody's then; what proved one of them virtual stays. */
export function removeRack(topology: Topology, rack: string, now: number): Topology {
  const current = advanceTopology(topology, now);
  const known = current.racks.get(rack);
  if (known === undefined) return current;
  let { addresses, shared } = current;
  for (const address of [...known.held.keys(), ...known.left]) {
    const key = addressKey(known.report.site, address);
    const facts = addresses.get(key);
    if (facts === undefined) continue;
    const holders = facts.holders.filter((holder) => holder !== rack);
    const forgotten = holders.length === 0 && facts.moves.length === 0;
    addresses = forgotten ? addresses.delete(key) : addresses.set(key, { ...facts, holders });
    shared = holders.length > 1 ? shared.set(key, true) : shared.delete(key);
  }
  return { ...current, racks: current.racks.delete(rack), addresses, shared };
}

function isOvertaken(known: RackReport, report: RackReport): boolean {
  return report.session < known.session || (report.session === known.session && report.sequence <= known.sequence);
}

function ignored(topology: Topology, report: RackReport, why: "empty" | "overtaken"): TopologyStep {
  return { topology, events: [{ type: "report-ignored", rack: report.rack, why }] };
}

/** What a host has while its network restarts: loopback and link-local addresses, perhaps a container engine's. No rack could report so. */
function isEmpty(next: TopologyRack, known: TopologyRack | undefined): boolean {
  if (next.held.size > 0) return false;
  return (known?.held.size ?? 0) > 0 || [...next.settled.values()].every(({ verdict }) => verdict.class === "local");
}

function judged(topology: Topology, known: TopologyRack | undefined, report: RackReport): TopologyRack {
  const { verdicts, problems } = judgeAddresses(report.interfaces, {
    real: union(report.real, topology.knowledge.real),
    vips: union(report.vips, topology.knowledge.vips),
    ledgerVips: topology.knowledge.ledgerVips,
    ...(report.leasedToSelf === undefined ? {} : { leasedToSelf: report.leasedToSelf }),
  });
  const settled = settleVerdicts(known?.settled ?? new Map<string, SettledVerdict>(), verdicts, topology.at);
  return {
    report,
    reportedAt: topology.at,
    lostAt: null,
    gapFrom: null,
    backAt: null,
    settled,
    held: heldAddresses(topology, report, { settled, known }),
    problems,
    servers: known?.servers ?? { dns: null, ntp: null },
    skewMs: report.rackTime === undefined ? null : report.rackTime - topology.at,
    left: known?.left ?? [],
  };
}

function union(own: ReadonlySet<IpAddress> | undefined, region: ReadonlySet<IpAddress>): ReadonlySet<IpAddress> {
  if (own === undefined || own.size === 0) return region;
  return region.size === 0 ? own : new Set([...own, ...region]);
}

/** Real and virtual addresses that stay a while: temporary ones (RFC 8981) are gone before anybody could use them. */
function heldAddresses(
  topology: Topology,
  report: RackReport,
  { settled, known }: { readonly settled: ReadonlyMap<string, SettledVerdict>; readonly known: TopologyRack | undefined },
): ReadonlyMap<IpAddress, Held> {
  const standing = [...settled.values()].map((entry) => standingVerdict(entry, topology.at));
  const lasting = standing.filter(
    ({ class: kind, observed }) => (kind === "real" || kind === "vip") && !hasFlag(observed, "temporary"),
  );
  const unattached = new Set(report.interfaces.filter(isUnattached).map((entry) => entry.name));
  const held = new Map<IpAddress, Held>();
  for (const [address, verdict] of mergeByAddress(lasting)) {
    const entry = settled.get(verdictKey(verdict));
    if (entry === undefined) continue;
    const since = sinceWhen(topology, report, { address, known });
    held.set(address, { settled: entry, since, unattached: unattached.has(verdict.interfaceName) });
  }
  return held;
}

/** A rack that was out of sight cannot vouch that it kept what another rack has meanwhile. */
function sinceWhen(
  topology: Topology,
  report: RackReport,
  { address, known }: { readonly address: IpAddress; readonly known: TopologyRack | undefined },
): number {
  const before = known?.report.site === report.site ? known.held.get(address) : undefined;
  if (before === undefined) return topology.at;
  const key = addressKey(report.site, address);
  const inGap = known !== undefined && vouchedUntil(topology, known) < topology.at;
  return inGap && topology.shared.has(key) ? topology.at : before.since;
}

/** Puts the rack in, takes out what left it, and tells the moves. */
function replaceRack(topology: Topology, known: TopologyRack | undefined, next: TopologyRack): TopologyStep {
  const moved = known !== undefined && known.report.site !== next.report.site;
  const gone = known === undefined ? [] : [...known.held.keys()].filter((address) => moved || !next.held.has(address));
  const come = [...next.held.keys()].filter((address) => known === undefined || moved || !known.held.has(address));
  const changed: AddressFacts[] = [];
  if (known !== undefined) for (const address of gone) changed.push(...addressLeaves(topology, known, address));
  const left = [...next.left.filter((address) => !next.held.has(address)), ...gone];
  const kept = left.slice(-LEFT_MAX);
  const half = withAddresses(topology, changed);
  const arrived = come.flatMap((address) => addressAppears(half, next, address));
  const full = forget(withAddresses(half, arrived), next.report.site, left.slice(0, left.length - kept.length));
  const events = [...changed, ...arrived].flatMap((facts) => newMove(topology, facts));
  return { topology: { ...full, racks: full.racks.set(next.report.rack, { ...next, left: kept }) }, events };
}

function withAddresses(topology: Topology, changed: readonly AddressFacts[]): Topology {
  let { addresses, shared } = topology;
  for (const facts of changed) {
    const key = addressKey(facts.site, facts.address);
    addresses = addresses.set(key, facts);
    shared = facts.holders.length > 1 ? shared.set(key, true) : shared.delete(key);
  }
  return { ...topology, addresses, shared };
}

/** An address that nobody has and that never moved is of no more interest. */
function forget(topology: Topology, site: string, departed: readonly IpAddress[]): Topology {
  let { addresses } = topology;
  for (const address of departed) {
    const facts = addresses.get(addressKey(site, address));
    if (facts?.holders.length === 0 && facts.moves.length === 0) addresses = addresses.delete(addressKey(site, address));
  }
  return addresses === topology.addresses ? topology : { ...topology, addresses };
}

function newMove(before: Topology, facts: AddressFacts): readonly TopologyEvent[] {
  const newest = facts.moves.at(-1);
  const known = before.addresses.get(addressKey(facts.site, facts.address))?.moves.at(-1);
  if (newest === undefined || (known?.at === newest.at && known.from === newest.from && known.to === newest.to)) return [];
  return [{ type: "vip-moved", site: facts.site, address: facts.address, ...newest }];
}
