/**
 * The files that Kea loads before its lease file `F`, oldest first, in alternatives: the first one of which any file exists is the one.
 * `kea-lfc` merges F.2 (the result before) and F.1 (what was F until it began) into F.output, names it F.completed when it is whole, and
 * then F.2 (Kea ARM, "Why Is Lease File Cleanup Necessary?"). F itself holds only what came since.
 */
export function keaFilesBefore(path: string): readonly (readonly string[])[] {
  return [[`${path}.completed`], [`${path}.2`, `${path}.1`]];
}
