import type { Problem } from "@berth/core";

const MALFORMED = /-malformed$|-host-bits$/;
const ABSENT = "-unknown";
/** The caller's If-Match names another state. */
const CHANGED = "precondition-failed";
/** It would be right, were it not for what is there already: somebody holds it, or it is used, or nothing is left. */
const CLASHES = [
  /-taken$|-allocated$|-in-use$|-over-allocations$|-overlaps$|-overlaps-pool$|-exhausted$|-ambiguous$|-resting$/,
  /^address-held-by-|^held-by-/,
  /^(?:nic-on-two-machines|machine-has-address|machine-named-otherwise|name-premade-of-other|rack-known|enlistment-pools-differ|racks-elsewhere)$/,
  /^(?:allocation-of-machine|machine-not-enrolled|machine-released|cname-beside-others|cname-loop)$/,
];

/**
 * How a refusal of the core is told in HTTP: 400 malformed, 404 not there, 409 clashes with what is there, 412 changed meanwhile, 422 for every other
 * refusal. A new code falls into its class by the way it is named.
 */
export function problemStatus(problem: Problem): number {
  if (MALFORMED.test(problem.code)) return 400;
  if (problem.code.endsWith(ABSENT)) return 404;
  if (problem.code === CHANGED) return 412;
  return CLASHES.some((pattern) => pattern.test(problem.code)) ? 409 : 422;
}
