import type { Problem } from "../problem.js";
import { canonicalJson } from "./digest.js";
import type { DesiredState } from "./schema.js";

export type Acceptance =
  /** Newer than what the rack holds: persist it, then act on it. */
  | { readonly kind: "newer" }
  /** The rack holds exactly this: nothing to do. */
  | { readonly kind: "same" }
  | { readonly kind: "refused"; readonly problem: Problem };

/**
 * May a rack take this desired state? A generation only ever grows, and one generation has one content: anything else means that a
 * region lost its memory or that two regions decide, and the rack keeps what it has.
 */
export function acceptDesired(rack: string, held: DesiredState | null, offered: DesiredState): Acceptance {
  const at = `generation ${offered.generation}`;
  if (offered.rack !== rack) {
    return refusal(
      "desired-wrong-rack",
      at,
      `it is for rack ${offered.rack}, this is ${rack}`,
      "check that no state folder was copied between hosts",
    );
  }
  if (held === null || offered.generation > held.generation) return { kind: "newer" };
  if (offered.generation < held.generation) {
    return refusal(
      "desired-older",
      at,
      `the rack already holds generation ${held.generation}`,
      "the region may run on an old backup: restore a newer one",
    );
  }
  if (canonicalJson(held) === canonicalJson(offered)) return { kind: "same" };
  return refusal(
    "desired-contradiction",
    at,
    "the rack holds other content under this number",
    "two regions may be deciding for this rack",
  );
}

function refusal(code: string, at: string, message: string, remedy: string): Acceptance {
  return { kind: "refused", problem: { code, at, message, remedy } };
}
