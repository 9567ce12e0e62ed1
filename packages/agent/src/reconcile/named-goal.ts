import type { IpAddress, Problem } from "@berth/core";
import { sha256 } from "@berth/host";

/** The daemon's name at the service driver. */
export const NAMED_SERVICE = "named";

export interface NamedZoneFile {
  readonly origin: string;
  readonly serial: number;
  /** File name inside the zones folder. */
  readonly file: string;
  readonly text: string;
  readonly digest: string;
}

export interface NamedGoal {
  /** `keep`: nothing new can be decided now; what runs goes on. */
  readonly kind: "run" | "keep";
  /** named.conf, or null: named should not run. */
  readonly conf: string | null;
  readonly zones: readonly NamedZoneFile[];
  /** Addresses it listens on, where its answers are checked. */
  readonly listen: readonly IpAddress[];
  readonly generation: number | null;
  readonly problems: readonly Problem[];
}

/** One name for all the files: equal digests, equal service. Null: named should not run. */
export function goalDigest(goal: Pick<NamedGoal, "conf" | "zones">): string | null {
  return goal.conf === null ? null : filesDigest(sha256(goal.conf), goal.zones);
}

export function filesDigest(conf: string, zones: readonly { readonly file: string; readonly digest: string }[]): string {
  return sha256([conf, ...zones.map(({ file, digest }) => `${file} ${digest}`)].join("\n"));
}
