import {
  canonicalJson,
  diffDesired,
  numberZones,
  PartSharer,
  type DesiredState,
  type DesiredZone,
  type RackView,
  type RegionPlan,
  type UnnumberedZone,
} from "@berth/core";
import { sha256 } from "@berth/host";
import type { DesiredRecord, SerialRecord } from "../store/store.js";
import type { PlanMemory } from "./plan-memory.js";
import { stateDigests } from "./state-digests.js";

/** A change that grew larger is not worth keeping beside the whole. */
const CHANGE_MAX = 256 * 1024;

/** Numbers what a plan decides, where it differs from the last time. States that differ little share their parts, so that a little change is a little work. */
export class PlanNumbers {
  readonly #memory: PlanMemory;
  readonly #zoneDigests = new WeakMap<object, { readonly rest: string; readonly digest: string }>();
  readonly #sharer = new PartSharer();
  /** By site. */
  readonly #zones = new Map<string, readonly DesiredZone[]>();

  constructor(memory: PlanMemory) {
    this.#memory = memory;
  }

  /** All that has to be saved before it is handed out. `now` in milliseconds since 1970. */
  number(plan: RegionPlan, racks: readonly RackView[], now: number): { desired: DesiredRecord[]; serials: SerialRecord[] } {
    const accepted = new Map(racks.map((rack) => [rack.id, rack.accepted]));
    const desired: DesiredRecord[] = [];
    const serials: SerialRecord[] = [];
    for (const { site, zones: unnumbered, racks: contents } of plan.sites) {
      const digest = (zone: UnnumberedZone): string => this.#digestOf(zone);
      const numbered = numberZones(unnumbered, this.#memory.serialsOf(site), { digest, now });
      for (const [origin, number] of numbered.changed) serials.push({ site, origin, ...number });
      const zones = this.#sharer.share(this.#zones.get(site) ?? null, [...numbered.zones]);
      this.#zones.set(site, zones);
      for (const content of contents) {
        const last = this.#memory.recordOf(content.rack);
        const state = this.#sharer.share(last?.state ?? null, { ...content, generation: last?.state.generation ?? 0, zones });
        const generation = this.#memory.nextGeneration(content.rack, state === last?.state, accepted.get(content.rack) ?? 0);
        if (generation !== null) desired.push(this.#record(last, { ...state, generation }));
      }
    }
    return { desired, serials };
  }

  #record(last: DesiredRecord | null, state: DesiredState): DesiredRecord {
    const digest = (of: DesiredState): string => stateDigests.of(of);
    const base = baseOf(last, digest);
    const change = base === null ? null : diffDesired(base, state, digest);
    const isSmall = change !== null && JSON.stringify(change).length <= CHANGE_MAX;
    const kept = base !== null && isSmall ? { whole: base, change } : { whole: state, change: null };
    return { state, digest: digest(state), ...kept };
  }

  /** Canonical JSON costs much more than plain JSON: a zone that is as it was, and whose records are the very same, is not written anew. */
  #digestOf(zone: UnnumberedZone): string {
    const { records, ...others } = zone;
    const rest = JSON.stringify(others);
    const known = this.#zoneDigests.get(records);
    if (known?.rest === rest) return known.digest;
    const digest = sha256(canonicalJson(zone));
    this.#zoneDigests.set(records, { rest, digest });
    return digest;
  }
}

/** The state that the store has whole, where it is known by its digest: an older version named states otherwise. */
function baseOf(last: DesiredRecord | null, digest: (of: DesiredState) => string): DesiredState | null {
  if (last === null || (last.change === null && digest(last.whole) !== last.digest)) return null;
  return last.whole;
}
