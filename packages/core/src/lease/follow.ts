import type { Problem } from "../problem.js";

/**
 * What to do next with a leases file that others append to, rewrite and replace. dhcpd appends to it, and at every start and at the
 * first commit of an hour writes a new file aside and renames it over (dhcpd.leases(5), section "THE DHCP LEASE FILE"). Operators
 * truncate it, copy over it and move it away.
 */

/** How far the open descriptor has been read. */
export interface FollowPosition {
  /** Device and inode of the open descriptor. */
  readonly identity: string;
  /** Octets read from the start of the file. */
  readonly offset: number;
  /** Time of last modification when the path was last looked at; compared for equality only. */
  readonly modified: string;
}

/** What the path shows at one look. */
export type FollowSighting =
  | { readonly kind: "file"; readonly identity: string; readonly size: number; readonly modified: string }
  | { readonly kind: "absent" }
  /** The look itself failed. `blocked`: permissions or not a plain file; else the disk or a limit of the system. */
  | { readonly kind: "failed"; readonly blocked: boolean; readonly problem: Problem };

/** Where the follower stands. Times are monotonic milliseconds. The last known table stands in every one of these states. */
export type FollowState =
  /** Nothing looked at yet. */
  | { readonly kind: "starting" }
  /** The table is what the file says. */
  | { readonly kind: "following" }
  /** A new or emptied file is there but may still be in the middle of being written; the table before it stands until it settles. */
  | { readonly kind: "settling"; readonly since: number; readonly reason: RereadReason }
  /** No file, within the grace time: a rename under way, or a server that is being installed. */
  | { readonly kind: "missing"; readonly since: number }
  /** No file for longer than that. */
  | { readonly kind: "lost"; readonly since: number }
  | { readonly kind: "unreadable"; readonly since: number; readonly problem: Problem }
  | { readonly kind: "failing"; readonly since: number; readonly problem: Problem };

export type RereadReason = "first" | "replaced" | "shrunk" | "overwritten";

export type FollowAction =
  | { readonly kind: "none" }
  /** Read on at the offset of the open descriptor, after checking that what was read last is still what stands there. */
  | { readonly kind: "read" }
  /** The path names no file: what the old descriptor still holds is read, nothing else. */
  | { readonly kind: "drain" }
  /** Read the file at the path from its start, beside the table in force. `drain`: read the old descriptor to its end first. */
  | { readonly kind: "reread"; readonly reason: RereadReason; readonly drain: boolean };

export interface FollowStep {
  readonly state: FollowState;
  readonly action: FollowAction;
}

/** When the look was taken, monotonic milliseconds, and how long a file may be away before that is a trouble of its own. */
export interface FollowMoment {
  readonly at: number;
  readonly graceMs: number;
}

/** Decides what one look at the path means. The identity of an open descriptor cannot be reused by another file, so equality is proof. */
export function stepFollow(
  before: { readonly state: FollowState; readonly position: FollowPosition | null },
  sighting: FollowSighting,
  moment: FollowMoment,
): FollowStep {
  const { state, position } = before;
  if (sighting.kind === "absent") {
    return { state: absentState(state, moment), action: position === null ? { kind: "none" } : { kind: "drain" } };
  }
  if (sighting.kind === "failed") {
    const kind = sighting.blocked ? "unreadable" : "failing";
    const since = state.kind === kind ? state.since : moment.at;
    return { state: { kind, since, problem: sighting.problem }, action: { kind: "none" } };
  }
  return { state: presentState(state), action: presentAction(position, sighting) };
}

function absentState(state: FollowState, moment: FollowMoment): FollowState {
  const since = state.kind === "missing" || state.kind === "lost" ? state.since : moment.at;
  return moment.at - since >= moment.graceMs ? { kind: "lost", since } : { kind: "missing", since };
}

/** A file that can be seen ends every trouble but the wait for an unfinished one, which {@link judgeReread} ends. */
function presentState(state: FollowState): FollowState {
  return state.kind === "settling" ? state : { kind: "following" };
}

function presentAction(position: FollowPosition | null, file: FollowSighting & { readonly kind: "file" }): FollowAction {
  if (position === null) return { kind: "reread", reason: "first", drain: false };
  if (position.identity !== file.identity) return { kind: "reread", reason: "replaced", drain: true };
  if (file.size < position.offset) return { kind: "reread", reason: "shrunk", drain: false };
  const untouched = file.size === position.offset && file.modified === position.modified;
  return untouched ? { kind: "none" } : { kind: "read" };
}

/** What was found in a file that was read from its start, and how long (monotonic milliseconds) it has neither grown nor changed. */
export interface RereadFinding {
  /** Leases and host declarations in it. */
  readonly declarations: number;
  /** It ends inside a declaration. */
  readonly unfinished: boolean;
  readonly quietMs: number;
}

/**
 * Whether a file read from its start takes the place of the table in force. A file that is empty, or ends inside a declaration and has
 * fewer than we know, is probably being written at this moment (truncate and copy, or a file that has just been created): it must be
 * quiet for `settleMs` before its emptiness is believed, so that no reader ever sees leases vanish and come back.
 */
export function judgeReread(found: RereadFinding, known: number, settleMs: number): "swap" | "wait" {
  const suspicious = known > 0 && (found.declarations === 0 || (found.unfinished && found.declarations < known));
  return suspicious && found.quietMs < settleMs ? "wait" : "swap";
}

/** How changes are noticed. */
export type FollowWatching =
  | { readonly kind: "events" }
  /** Looked at on a schedule only. `network`: the filesystem's name; `unwatchable`: why the directory cannot be watched. */
  | { readonly kind: "polling"; readonly reason: "network" | "unwatchable"; readonly detail: string }
  | { readonly kind: "no-directory" };

/** Less than this on the file's disk, in octets, and the server soon cannot record what it grants: some thousand leases. */
const FREE_BYTES_MIN = 1024 * 1024;

/** What an operator must know about the follower of the file at that path; empty when all is well. `freeBytes`: null for unknown. */
export function checkFollow(
  path: string,
  state: FollowState,
  about: { readonly watching: FollowWatching; readonly freeBytes: number | null },
): readonly Problem[] {
  return [...watchingProblems(path, about.watching), ...diskProblems(path, about.freeBytes), ...stateProblems(path, state)];
}

function diskProblems(path: string, freeBytes: number | null): readonly Problem[] {
  if (freeBytes === null || freeBytes >= FREE_BYTES_MIN) return [];
  return [
    {
      code: "leases-disk-full",
      at: path,
      message: `the disk of the leases file has ${freeBytes} octets left: dhcpd cannot record new leases for long`,
      remedy: "make room on that filesystem",
    },
  ];
}

function watchingProblems(path: string, watching: FollowWatching): readonly Problem[] {
  if (watching.kind !== "polling") return [];
  return watching.reason === "network"
    ? [
        {
          code: "leases-on-network-filesystem",
          at: path,
          message: `the leases file lies on ${watching.detail}, which tells of no changes: it is looked at on a schedule`,
          remedy: "keep the leases file on a disk of the rack host",
        },
      ]
    : [
        {
          code: "leases-unwatchable",
          at: path,
          message: `the directory of the leases file cannot be watched, it is looked at on a schedule: ${watching.detail}`,
          remedy: "raise fs.inotify.max_user_watches and max_user_instances if they are used up",
        },
      ];
}

function stateProblems(path: string, state: FollowState): readonly Problem[] {
  switch (state.kind) {
    case "lost":
      return [
        {
          code: "leases-missing",
          at: path,
          message: "there is no leases file; the last known leases stand",
          remedy: "check that dhcpd runs and where its -lf option points",
        },
      ];
    case "unreadable":
      return [{ ...state.problem, code: "leases-unreadable", at: path }];
    case "failing":
      return [{ ...state.problem, code: "leases-read-failed", at: path }];
    default:
      return [];
  }
}
