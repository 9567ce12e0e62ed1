import type { IpAddress } from "../address/ip.js";
import type { HostInterface } from "../interface/model.js";
import type { Problem } from "../problem.js";
import { RackLeases } from "./rack-leases.js";
import type { AgentMessage, DaemonStatus, HostKnowledge, LeaseReport } from "./messages.js";

/** What the region holds of one rack's reports. Changed in place: a rack has tens of thousands of leases and a delta names a few. */
export interface ReportedFacts {
  interfaces: readonly HostInterface[];
  /** Milliseconds since 1970. */
  interfacesAt: number | null;
  knowledge: HostKnowledge | null;
  leases: RackLeases;
  accepted: number;
  daemons: readonly DaemonStatus[];
  problems: readonly Problem[];
  ntp: boolean | null;
  /** How far the rack's clock is ahead of ours, milliseconds; negative when behind, null before it said. */
  clockAheadMs: number | null;
  /** Pages of a lease snapshot whose end has not come. */
  staged: RackLeases | null;
}

export type Observation = Extract<AgentMessage, { readonly sequence: number }>;

/** What an observation changed, for whoever keeps it. */
export type FactChange =
  | { readonly kind: "nothing" | "interfaces" | "status" | "leases-replaced" }
  | { readonly kind: "leases-changed"; readonly upserts: readonly LeaseReport[]; readonly gone: readonly IpAddress[] };

export interface Merged {
  readonly change: FactChange;
  readonly problems: readonly Problem[];
}

export function emptyReportedFacts(): ReportedFacts {
  return {
    interfaces: [],
    interfacesAt: null,
    knowledge: null,
    leases: new RackLeases(),
    accepted: 0,
    daemons: [],
    problems: [],
    ntp: null,
    clockAheadMs: null,
    staged: null,
  };
}

/** Takes one observation in, whole or not at all. `now` in milliseconds since 1970. */
export function mergeObservation(facts: ReportedFacts, observation: Observation, now: number): Merged {
  if (observation.now !== undefined) facts.clockAheadMs = observation.now - now;
  switch (observation.type) {
    case "interfaces":
      return mergeInterfaces(facts, observation, now);
    case "leases":
      return mergeLeases(facts, observation);
    case "status":
      // A generation only grows; a status written before a receipt must not take it back. A new hello starts anew.
      facts.accepted = Math.max(facts.accepted, observation.accepted);
      facts.daemons = observation.daemons;
      facts.ntp = observation.ntp;
      facts.problems = observation.problems.map(({ remedy, ...rest }) => (remedy === undefined ? rest : { ...rest, remedy }));
      return merged({ kind: "status" });
  }
}

/** An empty report is no report: it is what a failed scan looks like, and a host that speaks to us has an interface. */
function mergeInterfaces(
  facts: ReportedFacts,
  { interfaces, knowledge }: Extract<Observation, { readonly type: "interfaces" }>,
  now: number,
): Merged {
  if (interfaces.length === 0)
    return merged(
      { kind: "nothing" },
      { code: "report-empty", at: "interfaces", message: "an empty report of interfaces is no report" },
    );
  facts.interfaces = interfaces;
  facts.interfacesAt = now;
  facts.knowledge = knowledge;
  return merged({ kind: "interfaces" });
}

function mergeLeases(facts: ReportedFacts, { page, leases, gone }: Extract<Observation, { readonly type: "leases" }>): Merged {
  if (page === "delta") {
    for (const address of gone) facts.leases.delete(address);
    for (const lease of leases) facts.leases.set(lease.address, lease);
    return merged({ kind: "leases-changed", upserts: leases, gone });
  }
  if (page === "whole" || page === "begin") facts.staged = new RackLeases();
  if (facts.staged === null)
    return merged(
      { kind: "nothing" },
      { code: "page-out-of-order", at: `leases.${page}`, message: "a page of a snapshot that never began" },
    );
  for (const lease of leases) facts.staged.set(lease.address, lease);
  if (page === "begin" || page === "more") return merged({ kind: "nothing" });
  facts.leases = facts.staged;
  facts.staged = null;
  return merged({ kind: "leases-replaced" });
}

function merged(change: FactChange, ...problems: readonly Problem[]): Merged {
  return { change, problems };
}
