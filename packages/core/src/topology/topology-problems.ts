import { standingVerdict } from "../interface/settle-verdicts.js";
import { CONFIDENT } from "../interface/verdict.js";
import type { Problem } from "../problem.js";
import { fleetVerdict } from "./fleet-verdict.js";
import { currentHolders, isVirtual, type CurrentHolder } from "./holders.js";
import { isStale, type AddressFacts, type TopologyRack, type Topology } from "./topology.js";

/** What is wrong at the topology's time, in a stable order: addresses that more than one rack has, then rack by rack. */
export function topologyProblems(topology: Topology): readonly Problem[] {
  const problems: Problem[] = [];
  for (const [key] of topology.shared.entries()) {
    const facts = topology.addresses.get(key);
    if (facts !== undefined) problems.push(...addressProblems(topology, facts));
  }
  for (const facts of topology.racks.values()) problems.push(...rackProblems(topology, facts));
  return problems.sort((a, b) => (a.at === b.at ? compareText(a.code, b.code) : compareText(a.at, b.at)));
}

/** Only racks whose connection stands can be asked, and an address on lo may be on many. */
function addressProblems(topology: Topology, facts: AddressFacts): readonly Problem[] {
  const holders = currentHolders(topology, facts).filter(({ rack, held }) => rack.lostAt === null && !held.unattached);
  const virtual = holders.filter((holder) => isVirtual(topology, holder));
  const real = holders.filter((holder) => !virtual.includes(holder));
  const at = `${facts.site} ${facts.address}`;
  const problems: Problem[] = [];
  if (virtual.length > 1 && topology.at - overlapSince(virtual) >= topology.times.failoverMs) {
    problems.push({
      code: "vip-split-brain",
      at,
      message: `${names(virtual)} have the virtual address ${facts.address} at once`,
      remedy: "see whether the VIP manager still runs on each of them; remove the address where it does not",
    });
  }
  if (real.length > 1) {
    problems.push({
      code: "duplicate-address",
      at,
      message: `${names(real)} have the same address ${facts.address}`,
      remedy: "give each of them its own address, or name it in addresses.vips if it is virtual",
    });
  }
  const [owner] = real.filter((holder) => isSure(topology, holder));
  if (owner !== undefined && virtual.length > 0) {
    problems.push({
      code: "real-address-claimed",
      at,
      message: `${names(virtual)} took ${facts.address} as a virtual address, but it is ${owner.rack.report.name}'s own`,
      remedy: "see the VIP manager's configuration there",
    });
  }
  return problems;
}

function overlapSince(holders: readonly CurrentHolder[]): number {
  return holders.map(({ held }) => held.since).sort((a, b) => a - b)[1] ?? Infinity;
}

function isSure(topology: Topology, { rack, held }: CurrentHolder): boolean {
  return fleetVerdict(topology, rack, standingVerdict(held.settled, topology.at)).confidence >= CONFIDENT;
}

function rackProblems(topology: Topology, facts: TopologyRack): readonly Problem[] {
  const { name } = facts.report;
  const problems: Problem[] = facts.problems.map((problem) => ({ ...problem, at: `${name} ${problem.at}` }));
  if (isStale(topology, facts)) {
    problems.push({
      code: "rack-stale",
      at: name,
      message: `${name} has not been heard from since its connection was lost; what it last reported still counts`,
      remedy: "see whether the host and its agent run; remove the rack if it is gone for good",
    });
  }
  if (facts.skewMs !== null && Math.abs(facts.skewMs) > topology.times.skewMs) {
    const seconds = Math.round(Math.abs(facts.skewMs) / 1000);
    problems.push({
      code: "clock-skew",
      at: name,
      message: `the clock of ${name} is ${seconds} s ${facts.skewMs > 0 ? "ahead" : "behind"}`,
      remedy: "let the rack's time be set by NTP",
    });
  }
  return problems;
}

function names(holders: readonly CurrentHolder[]): string {
  return holders
    .map(({ rack }) => rack.report.name)
    .sort()
    .join(" and ");
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
