import type { Problem } from "../problem.js";

/**
 * What is remembered of a daemon's file, which we replace whole and others may lay hands on. Kept on disk: an edit is one also when the agent did not
 * run while it was made.
 */
export interface ManagedFileRecord {
  /** Digests that we wrote or were about to write, newest first. What lies there and is none of these was written by somebody else. */
  readonly wrote: readonly string[];
  /** When foreign edits were undone, milliseconds since 1970, newest first. */
  readonly undone: readonly number[];
  /** Digest of the foreign edit before which we gave way; null while the file is ours. */
  readonly leftTo: string | null;
  /** Digest of the content that last was seen to serve; null before the first. */
  readonly good: string | null;
  /** The daemon was heard to answer once on this host, so that its silence means something. */
  readonly heard: boolean;
}

export const NEW_MANAGED_FILE: ManagedFileRecord = { wrote: [], undone: [], leftTo: null, good: null, heard: false };

/** Another hand may have a reason; after so many edits within so long it is let have its way. */
export const UNDO_MAX = 3;
export const UNDO_WINDOW_MS = 3_600_000;
/** Digests remembered: an activation that was cut off has written one more than is known to serve. */
const WROTE_MAX = 8;

/** What lies on disk. `isOurs`: it begins with our header. */
export interface FoundFile {
  readonly digest: string;
  readonly isOurs: boolean;
}

export type FileStanding =
  /** Ours, or nothing is there. */
  | { readonly kind: "ours" }
  /** A file that we never wrote, found at the first look: it is kept beside before it is replaced. */
  | { readonly kind: "stranger" }
  /** Ours was edited: it may be put right this time. `record` is what to remember when that is done. */
  | { readonly kind: "edited"; readonly record: ManagedFileRecord }
  /** It was edited too often: it is left as it is. `record` is to be remembered. */
  | { readonly kind: "left"; readonly record: ManagedFileRecord };

/** Whose is the file? `now` in milliseconds since 1970. */
export function judgeFile(record: ManagedFileRecord, found: FoundFile | null, desired: string | null, now: number): FileStanding {
  if (found === null || found.digest === desired || wasOurs(record, found.digest)) return { kind: "ours" };
  // Without any record (it was lost, or an older version wrote none) the header is all there is to go by.
  if (record.wrote.length === 0) return { kind: found.isOurs ? "ours" : "stranger" };
  if (record.leftTo !== null) return { kind: "left", record: { ...record, leftTo: found.digest } };
  const recent = record.undone.filter((at) => at <= now && now - at < UNDO_WINDOW_MS);
  if (recent.length >= UNDO_MAX) return { kind: "left", record: { ...record, leftTo: found.digest } };
  return { kind: "edited", record: { ...record, undone: [now, ...recent] } };
}

/** Did this content come from us? */
export function wasOurs({ wrote, good }: ManagedFileRecord, digest: string): boolean {
  return digest === good || wrote.includes(digest);
}

/** To be remembered before that content is written. */
export function aboutToWrite(record: ManagedFileRecord, digest: string): ManagedFileRecord {
  const wrote = [digest, ...record.wrote.filter((other) => other !== digest)].slice(0, WROTE_MAX);
  return { ...record, wrote, leftTo: null };
}

/** What is told while a file is left to somebody else. */
export function leftProblem(path: string): Problem {
  return {
    code: "foreign-edit",
    at: path,
    message: `somebody else edited this file ${UNDO_MAX + 1} times within an hour; it is left as it is, and changes are not applied`,
    remedy: `find what edits it; then remove ${path}, and Berth writes its own again`,
  };
}
