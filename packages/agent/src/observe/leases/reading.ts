import type { LeaseReader } from "@berth/core";
import type { FileStamp, FollowFiles } from "@berth/host";
import { openTail, type Tail } from "./tail.js";

/** What the last look said of the file. */
export type Seen = Pick<FileStamp, "size" | "modified">;
export const UNSEEN: Seen = { size: 0, modified: "" };

/** A file that is read from its start to its moving end, and what it says. */
export interface Reading {
  readonly tail: Tail;
  readonly reader: LeaseReader;
}

export interface ReadingSource {
  readonly path: string;
  readonly createReader: () => LeaseReader;
  /** Files that belong before this one, oldest first, in alternatives: the first one of which any file exists is read. */
  readonly filesBefore: readonly (readonly string[])[];
}

const NEWLINE = Uint8Array.of(10);

/** Reads from the start. Null when there is no such file, or when the files before it were exchanged meanwhile: the next look begins again. */
export async function openReading(files: FollowFiles, source: ReadingSource, seen: Seen): Promise<Reading | null> {
  const reader = source.createReader();
  const before = await readBefore(files, source, reader);
  const tail = await openTail(files, source.path);
  if (tail === null) return null;
  try {
    await tail.readOn(seen, (bytes) => reader.push(bytes));
    if (await stillThere(files, source, before)) return { tail, reader };
  } catch (error) {
    await tail.close();
    throw error;
  }
  await tail.close();
  return null;
}

/** What the files before one that is missing say: Kea's, in the moment between its moving the file away and its beginning a new one. Null when there is none. */
export async function readFilesBefore(files: FollowFiles, source: ReadingSource): Promise<LeaseReader | "exchanged" | null> {
  const reader = source.createReader();
  const before = await readBefore(files, source, reader);
  if (!(await stillThere(files, source, before))) return "exchanged";
  return chosen(before).length === 0 ? null : reader;
}

async function readBefore(files: FollowFiles, source: ReadingSource, reader: LeaseReader): Promise<FileBefore[][]> {
  const before = await identities(files, source.filesBefore);
  for (const { path } of chosen(before)) await readWhole(files, path, reader);
  return before;
}

async function stillThere(files: FollowFiles, source: ReadingSource, before: FileBefore[][]): Promise<boolean> {
  return JSON.stringify(await identities(files, source.filesBefore)) === JSON.stringify(before);
}

interface FileBefore {
  readonly path: string;
  readonly identity: string | null;
}

async function identities(files: FollowFiles, groups: readonly (readonly string[])[]): Promise<FileBefore[][]> {
  const all: FileBefore[][] = [];
  for (const group of groups) {
    const found: FileBefore[] = [];
    for (const path of group) found.push({ path, identity: (await files.stamp(path))?.identity ?? null });
    all.push(found);
  }
  return all;
}

function chosen(groups: readonly (readonly FileBefore[])[]): readonly FileBefore[] {
  const exists = ({ identity }: FileBefore): boolean => identity !== null;
  return groups.find((group) => group.some(exists))?.filter(exists) ?? [];
}

async function readWhole(files: FollowFiles, path: string, reader: LeaseReader): Promise<void> {
  const tail = await openTail(files, path);
  if (tail === null) return;
  try {
    await tail.readOn(UNSEEN, (bytes) => reader.push(bytes));
    reader.push(NEWLINE); // the next file begins on a line of its own, even if this one was cut short
  } finally {
    await tail.close();
  }
}
