import { watch } from "node:fs";
import { EnvironmentError } from "./errors.js";

/** A value at once or later: local disks answer in the same turn, network filesystems must not block it. */
export type Awaitable<T> = T | Promise<T>;

/** What stat(2) says of a file, as far as somebody who follows it needs to know. */
export interface FileStamp {
  /** Device and inode number: two stamps with the same text are the same file, as long as one of the two is held open. */
  readonly identity: string;
  /** Octets. */
  readonly size: number;
  /** Last modification, nanoseconds since 1970 as text: only compared for equality. */
  readonly modified: string;
}

/** An open file that is read by position. Whoever opened it closes it. */
export interface FollowedFile {
  stamp(): Awaitable<FileStamp>;
  /** Octets read into `buffer` from that position; 0 at the end of the file. */
  read(buffer: Uint8Array, position: number): Awaitable<number>;
  /** The same at once, for what was just written; only files on local disks have it. */
  readonly readNow?: (buffer: Uint8Array, position: number) => number;
  close(): Awaitable<void>;
}

/** Where a directory lies. Events of a network filesystem tell only of this host's own writes. */
export type FilesystemKind =
  | { readonly kind: "local" }
  | { readonly kind: "network"; readonly name: string }
  | { readonly kind: "absent" };

/**
 * The calls that following a growing file needs. All of them throw {@link EnvironmentError}: `file-unreadable` (permissions, not a
 * plain file), `file-read-failed` (the disk), `too-many-files` (descriptors or watches of this process or host are used up).
 */
export interface FollowFiles {
  /** Null when there is no such file, or no such directory. */
  stamp(path: string): Awaitable<FileStamp | null>;
  /** Null when there is no such file. */
  open(path: string): Awaitable<FollowedFile | null>;
  filesystem(directory: string): Awaitable<FilesystemKind>;
  /** Octets that a daemon which is not root could still write there; null when there is no such directory. */
  freeBytes(directory: string): Awaitable<number | null>;
  /** Identity of the directory itself, null when there is none. */
  directoryIdentity(directory: string): Awaitable<string | null>;
  /** Starts watching; the caller closes it. */
  watch(directory: string, listener: DirectoryListener): DirectoryWatch;
}

export interface DirectoryListener {
  /** Something happened to the entry of that name; null where the system did not say which. */
  onEntry(name: string | null): void;
  /** The watch is dead and must be made again. */
  onFailure(error: EnvironmentError): void;
}

export interface DirectoryWatch {
  close(): void;
}

/**
 * Watches the entries of a directory. On the directory and never on the file: a watch on a file stays with the old inode when the
 * file is replaced by rename.
 */
export function watchDirectory(directory: string, listener: DirectoryListener): DirectoryWatch {
  try {
    const watcher = watch(directory, { persistent: true }, (_event, name) => listener.onEntry(name));
    watcher.on("error", (cause) => listener.onFailure(watchError(directory, cause)));
    return { close: () => watcher.close() };
  } catch (cause) {
    throw watchError(directory, cause);
  }
}

function watchError(directory: string, cause: unknown): EnvironmentError {
  return new EnvironmentError("directory-unwatchable", directory, `failed to watch ${directory}`, {
    cause,
    remedy: "raise fs.inotify.max_user_watches and max_user_instances if they are used up",
  });
}
