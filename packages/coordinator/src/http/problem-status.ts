import type { Problem } from "@berth/core";

/** How a refusal of the core is told in HTTP: by the ending of its code, so that a new code lands in the right class by its name. */
const CLASSES: readonly (readonly [RegExp, number])[] = [
  [/-unknown$|-not-found$|^unknown-|^no-such-/, 404],
  [/-malformed$|-host-bits$/, 400],
  [
    /-taken$|-held$|-in-use$|-overlaps?$|-overlapping$|-exists$|-conflict$|-ambiguous$|-exhausted$|-not-empty$|-duplicate$|^duplicate-/,
    409,
  ],
];

/** 400 malformed, 404 not there, 409 clashes with what is there, 422 for every other refusal. */
export function problemStatus(problem: Problem): number {
  return CLASSES.find(([pattern]) => pattern.test(problem.code))?.[1] ?? 422;
}
