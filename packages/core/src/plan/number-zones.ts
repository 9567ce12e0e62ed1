import type { DesiredZone } from "../desired/schema.js";
import type { UnnumberedZone } from "../dns/compose.js";

/** What a zone was numbered with last. `digest` names its content. */
export interface ZoneNumber {
  readonly serial: number;
  readonly digest: string;
}

const SERIAL_MAX = 0xffffffff;

/**
 * Numbers the zones of one site: a zone whose content is as before keeps its serial, a changed one moves on. A zone without a number starts
 * with the time in seconds, so that one that was numbered before the store was lost still moves forward (RFC 1982). `digest` names a
 * content, `now` in milliseconds since 1970.
 */
export function numberZones(
  zones: readonly UnnumberedZone[],
  before: ReadonlyMap<string, ZoneNumber>,
  { digest, now }: { readonly digest: (zone: UnnumberedZone) => string; readonly now: number },
): { readonly zones: readonly DesiredZone[]; readonly changed: ReadonlyMap<string, ZoneNumber> } {
  const changed = new Map<string, ZoneNumber>();
  const numbered = zones.map((zone): DesiredZone => {
    const name = digest(zone);
    const known = before.get(zone.origin);
    if (known?.digest === name) return { ...zone, serial: known.serial };
    const serial = known === undefined ? firstSerial(now) : nextSerial(known.serial);
    changed.set(zone.origin, { serial, digest: name });
    return { ...zone, serial };
  });
  return { zones: numbered, changed };
}

function firstSerial(now: number): number {
  return Math.min(Math.max(Math.floor(now / 1000), 1), SERIAL_MAX);
}

/** Zero follows the largest (RFC 1982 §3.1) and is skipped: some servers take it for "no serial". */
function nextSerial(serial: number): number {
  return serial >= SERIAL_MAX ? 1 : serial + 1;
}
