import {
  compileZones,
  listenAddresses,
  renderNamedConf,
  renderZone,
  type DesiredState,
  type DesiredZone,
  type IpAddress,
  type NamedConfPaths,
  type Problem,
  type RackLinks,
} from "@berth/core";
import { sha256 } from "@berth/host";

/** The daemon's name at the service driver. */
export const NAMED_SERVICE = "named";

export interface NamedZoneFile {
  readonly origin: string;
  readonly serial: number;
  /** File name inside the zones folder. */
  readonly file: string;
  readonly digest: string;
  /** Made when it is needed: the text of a large zone is not kept in memory. */
  readonly text: () => string;
}

export interface NamedGoal {
  /** `keep`: nothing new can be decided now; what runs goes on. */
  readonly kind: "run" | "keep";
  /** Nothing new can be decided yet: what runs may not be what is wanted. */
  readonly pending: boolean;
  /** named.conf, or null: named should not run. */
  readonly conf: string | null;
  readonly zones: readonly NamedZoneFile[];
  /** Addresses it listens on, where its answers are checked. */
  readonly listen: readonly IpAddress[];
  readonly generation: number | null;
  readonly problems: readonly Problem[];
}

export interface NamedGoalOptions {
  readonly paths: NamedConfPaths;
  readonly port: number;
  readonly controlPort: number;
}

/** One name for all the files: equal digests, equal service. Null: named should not run. */
export function goalDigest(goal: Pick<NamedGoal, "conf" | "zones">): string | null {
  return goal.conf === null ? null : filesDigest(sha256(goal.conf), goal.zones);
}

export function filesDigest(conf: string, zones: readonly { readonly file: string; readonly digest: string }[]): string {
  return sha256([conf, ...zones.map(({ file, digest }) => `${file} ${digest}`)].join("\n"));
}

/** What named should run, from the newest accepted desired state and from where this rack's subnets are attached. */
export function namedGoal(desired: DesiredState | null, local: RackLinks | null, options: NamedGoalOptions): NamedGoal {
  const nothing = { conf: null, zones: [], listen: [] };
  const keep = { kind: "keep", ...nothing, generation: null } as const;
  if (desired === null || local === null) return { ...keep, pending: desired !== null, problems: [] };
  const compiled = compiledZones(desired.zones);
  if (!compiled.ok) return { ...keep, pending: false, problems: compiled.problems };
  const { generation } = desired;
  const listen = listenAddresses(desired, local);
  if (listen.length === 0 || desired.zones.length === 0)
    return { kind: "run", pending: false, ...nothing, generation, problems: [] };
  const zones = compiled.value.files.map(({ zone, fileName }) => zoneFile(zone, fileName));
  const conf = renderNamedConf(desired, { ...options, listen });
  return { kind: "run", pending: false, conf, zones, listen, generation, problems: compiled.value.warnings };
}

/** The zones in force are looked at every few seconds and compiled once; with most desired states they stay the very same. */
const compiledBefore = new WeakMap<object, ReturnType<typeof compileZones>>();

function compiledZones(zones: DesiredState["zones"]): ReturnType<typeof compileZones> {
  const compiled = compiledBefore.get(zones) ?? compileZones({ zones });
  compiledBefore.set(zones, compiled);
  return compiled;
}

/** Digests of the zones of the desired state in force, rendered once. */
const digests = new WeakMap<DesiredZone, string>();

function zoneFile(zone: DesiredZone, file: string): NamedZoneFile {
  const digest = digests.get(zone) ?? sha256(renderZone(zone));
  digests.set(zone, digest);
  return { origin: zone.origin, serial: zone.serial, file, digest, text: () => renderZone(zone) };
}
