import type { DesiredState } from "../desired/schema.js";
import type { HostInterface } from "../interface/model.js";
import { publishAddresses } from "../interface/publish-addresses.js";
import { isUp, verdictKey, type AddressVerdict } from "../interface/verdict.js";
import type { Subnet } from "../ipam/model.js";
import { servedSubnets, verdictsOf } from "../ipam/served-subnets.js";
import type { Problem } from "../problem.js";
import { checkClock } from "../protocol/clock-skew.js";
import { rackVerdicts } from "../topology/fleet-verdict.js";
import type { RackView } from "../topology/rack-view.js";
import { isStale, type Topology, type TopologyRack } from "../topology/topology.js";
import { isoTime, leaseInUse } from "./lease-view.js";
import type { RackApiView } from "./rack.js";
import type { CurrentProblem } from "./system.js";

export interface RackSources {
  readonly desired: DesiredState | null;
  readonly topology: Topology;
  readonly subnets: readonly Subnet[];
  /** Milliseconds since 1970. */
  readonly nowMs: number;
}

/** The API's form of a rack: what it sees of itself, how the region judges it, what it must run. */
export function viewRack(rack: RackView, { desired, topology, subnets, nowMs }: RackSources): RackApiView {
  const facts = topology.racks.get(rack.id);
  const verdicts = facts === undefined ? verdictsOf(rack) : rackVerdicts(topology, facts);
  return {
    id: rack.id,
    name: rack.name,
    site: rack.site,
    connected: rack.connected,
    stale: facts !== undefined && isStale(topology, facts),
    joinedAt: isoTime(rack.joinedAt),
    lastSeenAt: rack.lastSeenAt === null ? null : isoTime(rack.lastSeenAt),
    addresses: viewAddresses(rack, verdicts, facts),
    links: rack.interfaces.map(viewLink),
    subnets: servedSubnets(subnets, rack, verdicts).map(({ id, prefix }) => ({ id, prefix })),
    interfacesAt: rack.interfacesAt === null ? null : isoTime(rack.interfacesAt),
    desiredGeneration: desired?.generation ?? null,
    acceptedGeneration: rack.accepted,
    converged: isConverged(rack, desired),
    leasesInUse: [...rack.leases.values()].filter((lease) => leaseInUse({ rack, lease }, nowMs)).length,
    daemons: rack.daemons.map(({ problems, ...daemon }) => ({ ...daemon, problems: problems.map(plainProblem) })),
    problems: rack.problems.map(plainProblem),
  };
}

function viewAddresses(
  rack: RackView,
  verdicts: readonly AddressVerdict[],
  facts: TopologyRack | undefined,
): RackApiView["addresses"] {
  const published = new Set(publishAddresses(rack.interfaces, verdicts).map(({ verdict }) => verdictKey(verdict)));
  return verdicts
    .filter(({ observed: { scope } }) => scope !== "host" && scope !== "link")
    .map((verdict) => {
      const since = facts?.held.get(verdict.observed.address)?.since ?? null;
      return {
        interface: verdict.interfaceName,
        address: verdict.observed.address,
        prefixLength: verdict.observed.prefixLength,
        class: verdict.class,
        confidence: verdict.confidence,
        reasons: [...verdict.reasons],
        since: since === null ? null : isoTime(since),
        published: published.has(verdictKey(verdict)),
      };
    });
}

function viewLink(entry: HostInterface): RackApiView["links"][number] {
  const { flags, hardwareAddress, kind, name, parent, vlanId } = entry;
  return { name, parent, kind, vlanId, hardwareAddress, up: isUp(entry), flags: [...flags] };
}

/** It has the newest desired state on its disk and every daemon runs what that renders to. */
export function isConverged(rack: RackView, desired: DesiredState | null): boolean {
  return (
    desired !== null &&
    rack.accepted === desired.generation &&
    rack.daemons.length > 0 &&
    rack.daemons.every(({ state }) => state === "converged" || state === "off")
  );
}

function plainProblem(problem: ReportedProblem): Problem {
  const { code, at, message, remedy } = problem;
  return { code, at, message, ...(remedy === undefined ? {} : { remedy }) };
}

/** A rack that is silent may have had its clock set since. */
function clockProblems({ name, connected, clockAheadMs }: RackView): FoundProblem[] {
  const problem = connected ? checkClock(name, "clock", clockAheadMs ?? null) : null;
  return problem === null ? [] : [{ source: "rack", rack: name, daemon: null, ...problem }];
}

/** What is wrong with the region itself: its store, and what travels to and from its racks. */
export function regionProblems(problems: readonly Problem[]): FoundProblem[] {
  return problems.map((problem) => ({ source: "region", rack: null, daemon: null, ...plainProblem(problem) }));
}

/** As a frame's decoder makes it: `remedy` may be there and undefined. */
interface ReportedProblem {
  readonly code: string;
  readonly at: string;
  readonly message: string;
  readonly remedy?: string | undefined;
}

/** A problem that holds now, before anybody says since when. */
export type FoundProblem = Omit<CurrentProblem, "since">;

/** Every problem that holds now: the plan's, the topology's, then each rack's own and its daemons', in the racks' order. */
export function currentProblems(
  racks: readonly RackView[],
  planProblems: readonly Problem[],
  topologyFound: readonly Problem[] = [],
): FoundProblem[] {
  const region = (source: "plan" | "topology", problems: readonly Problem[]): FoundProblem[] =>
    problems.map((problem) => ({ source, rack: null, daemon: null, ...plainProblem(problem) }));
  return [
    ...region("plan", planProblems),
    ...region("topology", topologyFound),
    ...racks.flatMap((rack) => [
      ...clockProblems(rack),
      ...rack.problems.map((problem) => ({ source: "rack" as const, rack: rack.name, daemon: null, ...plainProblem(problem) })),
      ...rack.daemons.flatMap(({ name, problems }) =>
        problems.map((problem) => ({ source: "daemon" as const, rack: rack.name, daemon: name, ...plainProblem(problem) })),
      ),
    ]),
  ];
}
