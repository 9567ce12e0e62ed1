import type { DesiredState, DesiredZone } from "../desired/schema.js";
import { accepted, refused, type Problem, type Result } from "../problem.js";
import { checkZones } from "./check-zones.js";
import { hasPremadeNames, PREMADE_ADDRESSES_MAX } from "./premade-names.js";
import { zoneFileName } from "./zone-file-name.js";

/** One zone to serve and the file it goes to. */
export interface ZoneFile {
  readonly zone: DesiredZone;
  /** Name inside the zones folder. */
  readonly fileName: string;
}

export interface CompiledZones {
  /** Sorted by origin. */
  readonly files: readonly ZoneFile[];
  /** Findings that leave the zones servable. */
  readonly warnings: readonly Problem[];
}

/** The zone files of a desired state; refused with every reason when one of them would not be served as it is meant. */
export function compileZones(desired: Pick<DesiredState, "zones">): Result<CompiledZones> {
  const problems = checkZones(desired);
  if (problems.length > 0) return refused(...problems);
  const zones = desired.zones.toSorted((a, b) => (a.origin < b.origin ? -1 : 1));
  return accepted({
    files: zones.map((zone) => ({ zone, fileName: zoneFileName(zone.origin) })),
    warnings: zones.flatMap(tooLarge),
  });
}

function tooLarge(zone: DesiredZone): Problem[] {
  return zone.premade
    .filter(({ prefix }) => !hasPremadeNames(prefix))
    .map(({ prefix }) => ({
      code: "premade-too-large",
      at: `zone ${zone.origin}`,
      message: `${prefix} has more than ${PREMADE_ADDRESSES_MAX} addresses, so its pre-made names are not written`,
      remedy: "declare smaller subnets, or rely on the names of its allocations",
    }));
}
