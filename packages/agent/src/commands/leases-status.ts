import type { LeaseFollowerHealth } from "../observe/leases/model.js";

type Told = Pick<
  LeaseFollowerHealth,
  "leases" | "state" | "lastChangeAgeMs" | "lagBytes" | "pendingTail" | "skippedDeclarations" | "watching"
>;

/** How the leases file is followed, in one line for people: what is always of interest, then what is not as usual. JSON has all figures. */
export function leasesStatusText(health: Told): string {
  const { leases, state, lastChangeAgeMs, lagBytes, pendingTail, skippedDeclarations, watching } = health;
  return [
    `${leases} in the file`,
    state.kind,
    lastChangeAgeMs === null ? "" : `last change ${ageText(lastChangeAgeMs)} ago`,
    lagBytes === 0 ? "" : `${lagBytes} octets not read yet`,
    pendingTail ? "the last declaration is not finished" : "",
    skippedDeclarations === 0
      ? ""
      : `${skippedDeclarations} ${skippedDeclarations === 1 ? "declaration" : "declarations"} skipped as damaged or unknown (berth-agent leases FILE says which)`,
    watching.kind === "events" ? "" : watching.kind,
  ]
    .filter((fact) => fact !== "")
    .join(", ");
}

/** In the largest unit of which there are two. */
function ageText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86_400)} days`;
}
