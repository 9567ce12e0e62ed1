import type { LeasePages, Problem } from "@berth/core";
import type { LeaseFollower } from "./model.js";

/** A leases file that is reported, and whether a server of this rack is to write it. */
export interface ReportedLeases {
  readonly follower: LeaseFollower;
  readonly isServed: () => boolean;
}

/**
 * The leases of all servers as one list. Null while one of them is unknown: the region would take what is left out for gone. A file that nobody is to
 * write and that is not there has no leases.
 */
export function joinedLeases(sources: readonly ReportedLeases[]): LeasePages | null {
  const pages: LeasePages[] = [];
  for (const { follower, isServed } of sources) {
    const { identity, state } = follower.health();
    if (identity !== null) pages.push(follower.pages());
    else if ((state.kind !== "missing" && state.kind !== "lost") || isServed()) return null;
  }
  return pages.length === 0 ? null : pages.reduce(join);
}

/** Trouble with these files; that one which nobody is to write was never there is none. */
export function leasesProblems(sources: readonly ReportedLeases[]): Problem[] {
  return sources.flatMap(({ follower, isServed }) => {
    const { identity, problems, state } = follower.health();
    return identity === null && state.kind === "lost" && !isServed() ? [] : problems;
  });
}

function join(a: LeasePages, b: LeasePages): LeasePages {
  return {
    length: a.length + b.length,
    slice: (from, to) => [
      ...a.slice(Math.min(from, a.length), Math.min(to, a.length)),
      ...b.slice(Math.max(from - a.length, 0), Math.max(to - a.length, 0)),
    ],
  };
}
