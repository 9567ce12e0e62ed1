import type { DesiredState } from "../desired/schema.js";
import type { Problem } from "../problem.js";
import type { RackView } from "../topology/rack-view.js";
import { isoTime, leaseInUse } from "./lease-view.js";
import type { RackApiView } from "./rack.js";
import type { CurrentProblem } from "./system.js";

/** The API's form of a rack beside what it must run. */
export function viewRack(rack: RackView, desired: DesiredState | null, nowMs: number): RackApiView {
  return {
    id: rack.id,
    name: rack.name,
    site: rack.site,
    connected: rack.connected,
    joinedAt: isoTime(rack.joinedAt),
    lastSeenAt: rack.lastSeenAt === null ? null : isoTime(rack.lastSeenAt),
    addresses: rack.interfaces.flatMap(({ addresses, name }) =>
      addresses
        .filter(({ scope }) => scope !== "host" && scope !== "link")
        .map(({ address, prefixLength }) => ({ interface: name, address, prefixLength })),
    ),
    interfacesAt: rack.interfacesAt === null ? null : isoTime(rack.interfacesAt),
    desiredGeneration: desired?.generation ?? null,
    acceptedGeneration: rack.accepted,
    converged: isConverged(rack, desired),
    leasesInUse: [...rack.leases.values()].filter((lease) => leaseInUse(lease, nowMs)).length,
    daemons: rack.daemons.map(({ problems, ...daemon }) => ({ ...daemon, problems: problems.map(plainProblem) })),
    problems: rack.problems.map(plainProblem),
  };
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

/** As a frame's decoder makes it: `remedy` may be there and undefined. */
interface ReportedProblem {
  readonly code: string;
  readonly at: string;
  readonly message: string;
  readonly remedy?: string | undefined;
}

/** Every problem that holds now: the plan's, then each rack's own and its daemons', in the racks' order. */
export function currentProblems(racks: readonly RackView[], planProblems: readonly Problem[]): CurrentProblem[] {
  return [
    ...planProblems.map((problem) => ({ source: "plan" as const, rack: null, daemon: null, ...plainProblem(problem) })),
    ...racks.flatMap((rack) => [
      ...rack.problems.map((problem) => ({ source: "rack" as const, rack: rack.name, daemon: null, ...plainProblem(problem) })),
      ...rack.daemons.flatMap(({ name, problems }) =>
        problems.map((problem) => ({ source: "daemon" as const, rack: rack.name, daemon: name, ...plainProblem(problem) })),
      ),
    ]),
  ];
}
