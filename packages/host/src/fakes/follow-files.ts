import { basename, dirname } from "node:path";
import { EnvironmentError } from "../errors.js";
import type { DirectoryListener, FilesystemKind, FileStamp, FollowedFile, FollowFiles } from "../watch.js";

interface Inode {
  readonly number: number;
  content: Uint8Array;
  modified: number;
}

type Call = "stamp" | "open" | "read" | "watch";

export interface FakeFollowFiles extends FollowFiles {
  /** Makes the file or replaces its content in place, as a shell's `>` does. */
  write(path: string, content: string | Uint8Array): void;
  append(path: string, content: string | Uint8Array): void;
  rename(from: string, to: string): void;
  truncate(path: string, size?: number): void;
  unlink(path: string): void;
  /** The directory is taken away and made again: same entries, another identity, watches on the old one hear nothing more. */
  replaceDirectory(directory: string): void;
  /** This call fails with that code until the next `fail` with null. */
  fail(call: Call, code: string | null): void;
  /** Events are swallowed, as on a network filesystem. */
  mute(silent: boolean): void;
  setFilesystem(kind: FilesystemKind): void;
  setFreeBytes(octets: number): void;
  /** Descriptors that have not been closed, and watches. */
  readonly openFiles: number;
  readonly watches: number;
}

/** A directory tree of plain files in memory, with inodes that outlive their names as long as they are open. */
export function createFakeFollowFiles(): FakeFollowFiles {
  const state = new FakeTree();
  return {
    stamp: (path) => state.stamp(path),
    open: (path) => state.open(path),
    directoryIdentity: (directory) => state.directoryIdentity(directory),
    filesystem: () => state.filesystemKind,
    freeBytes: () => state.freeBytes,
    watch: (directory, listener) => state.watch(directory, listener),
    write: (path, content) => state.write(path, bytesOf(content)),
    append: (path, content) => state.append(path, bytesOf(content)),
    rename: (from, to) => state.rename(from, to),
    truncate: (path, size = 0) => state.truncate(path, size),
    unlink: (path) => state.unlink(path),
    replaceDirectory: (directory) => state.replaceDirectory(directory),
    fail: (call, code) => void (code === null ? state.failures.delete(call) : state.failures.set(call, code)),
    mute: (silent) => void (state.silent = silent),
    setFilesystem: (kind) => void (state.filesystemKind = kind),
    setFreeBytes: (octets) => void (state.freeBytes = octets),
    get openFiles() {
      return state.openCount;
    },
    get watches() {
      return state.watchers.size;
    },
  };
}

class FakeTree {
  readonly failures = new Map<Call, string>();
  readonly watchers = new Set<{ readonly directory: string; readonly listener: DirectoryListener }>();
  filesystemKind: FilesystemKind = { kind: "local" };
  freeBytes = 1e9;
  silent = false;
  openCount = 0;
  #names = new Map<string, Inode>();
  #directories = new Map<string, number>();
  #nextInode = 1;
  #time = 1;

  stamp(path: string): FileStamp | null {
    this.#mayFail("stamp", path);
    const inode = this.#names.get(path);
    return inode === undefined ? null : stampOf(inode);
  }

  open(path: string): FollowedFile | null {
    this.#mayFail("open", path);
    const inode = this.#names.get(path);
    if (inode === undefined) return null;
    this.openCount += 1;
    const readNow = (buffer: Uint8Array, position: number): number => {
      this.#mayFail("read", path);
      const part = inode.content.subarray(position, position + buffer.length);
      buffer.set(part);
      return part.length;
    };
    return {
      stamp: () => stampOf(inode),
      read: readNow,
      readNow,
      close: () => {
        this.openCount -= 1;
      },
    };
  }

  directoryIdentity(directory: string): string {
    return `directory:${this.#directories.get(directory) ?? 0}`;
  }

  watch(directory: string, listener: DirectoryListener): { close(): void } {
    this.#mayFail("watch", directory);
    const watcher = { directory, listener };
    this.watchers.add(watcher);
    return { close: () => void this.watchers.delete(watcher) };
  }

  write(path: string, content: Uint8Array): void {
    this.#touch(path, content);
    this.#tell(path);
  }

  append(path: string, content: Uint8Array): void {
    const before = this.#names.get(path)?.content ?? new Uint8Array();
    const joined = new Uint8Array(before.length + content.length);
    joined.set(before);
    joined.set(content, before.length);
    this.#touch(path, joined);
    this.#tell(path);
  }

  rename(from: string, to: string): void {
    const inode = this.#names.get(from);
    if (inode === undefined) throw new EnvironmentError("file-unwritable", from, `no file ${from} to rename`);
    this.#names.delete(from);
    this.#names.set(to, inode);
    this.#tell(from);
    this.#tell(to);
  }

  truncate(path: string, size: number): void {
    this.#touch(path, (this.#names.get(path)?.content ?? new Uint8Array()).slice(0, size));
    this.#tell(path);
  }

  unlink(path: string): void {
    this.#names.delete(path);
    this.#tell(path);
  }

  replaceDirectory(directory: string): void {
    this.#directories.set(directory, (this.#directories.get(directory) ?? 0) + 1);
    for (const watcher of this.watchers) if (watcher.directory === directory) this.watchers.delete(watcher);
  }

  #touch(path: string, content: Uint8Array): void {
    const inode = this.#names.get(path) ?? { number: this.#nextInode++, content, modified: 0 };
    inode.content = content;
    inode.modified = this.#time++;
    this.#names.set(path, inode);
  }

  #tell(path: string): void {
    if (this.silent) return;
    for (const { directory, listener } of this.watchers) if (directory === dirname(path)) listener.onEntry(basename(path));
  }

  #mayFail(call: Call, path: string): void {
    const code = this.failures.get(call);
    if (code !== undefined) throw new EnvironmentError(code, path, `${call} of ${path} was told to fail`);
  }
}

function stampOf(inode: Inode): FileStamp {
  return { identity: `fake:${inode.number}`, size: inode.content.length, modified: String(inode.modified) };
}

function bytesOf(content: string | Uint8Array): Uint8Array {
  return typeof content === "string" ? new TextEncoder().encode(content) : content;
}
