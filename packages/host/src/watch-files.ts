import { closeSync, constants, fstatSync, openSync, read, readSync, statSync, type BigIntStats } from "node:fs";
import { open, stat, statfs, type FileHandle } from "node:fs/promises";
import { EnvironmentError, errnoOf } from "./errors.js";
import { watchDirectory, type FileStamp, type FilesystemKind, type FollowedFile, type FollowFiles } from "./watch.js";

/** Reads up to this many octets are done in the caller's turn: what was just written lies in the page cache. */
const SYNC_READ_MAX = 64 * 1024;

/** A FIFO in the file's place must not block the open. */
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK;

const filesystem = (directory: string): Promise<FilesystemKind> => observeFilesystem(directory);

const freeBytes = async (directory: string): Promise<number | null> => {
  const stats = await attemptLater(directory, () => statfs(directory));
  return stats === null ? null : stats.bavail * stats.bsize;
};

/** For files on this host's own disks: stat and small reads in the caller's turn, 10 us instead of a trip through the thread pool. */
export const localFollowFiles: FollowFiles = {
  stamp(path) {
    const stats = attempt(path, () => statSync(path, { bigint: true, throwIfNoEntry: false }));
    return stats === null || stats === undefined ? null : stampOf(stats);
  },
  open(path) {
    const descriptor = attempt(path, () => openSync(path, OPEN_FLAGS));
    if (descriptor === null) return null;
    try {
      assertPlainFile(path, fstatSync(descriptor, { bigint: true }));
    } catch (error) {
      closeSync(descriptor);
      throw failure(path, error);
    }
    return localFile(path, descriptor);
  },
  directoryIdentity(directory) {
    const stats = attempt(directory, () => statSync(directory, { bigint: true, throwIfNoEntry: false }));
    return stats === null || stats === undefined ? null : identityOf(stats);
  },
  filesystem,
  freeBytes,
  watch: watchDirectory,
};

/** For files on NFS and its kin: nothing blocks the turn, because a server that is away blocks for minutes. */
export const networkFollowFiles: FollowFiles = {
  async stamp(path) {
    const stats = await attemptLater(path, () => stat(path, { bigint: true }));
    return stats === null ? null : stampOf(stats);
  },
  async open(path) {
    const file = await attemptLater(path, () => open(path, OPEN_FLAGS));
    if (file === null) return null;
    try {
      assertPlainFile(path, await file.stat({ bigint: true }));
    } catch (error) {
      await file.close();
      throw failure(path, error);
    }
    return networkFile(path, file);
  },
  async directoryIdentity(directory) {
    const stats = await attemptLater(directory, () => stat(directory, { bigint: true }));
    return stats === null ? null : identityOf(stats);
  },
  filesystem,
  freeBytes,
  watch: watchDirectory,
};

function localFile(path: string, descriptor: number): FollowedFile {
  const readNow = (buffer: Uint8Array, position: number): number => {
    try {
      return readSync(descriptor, buffer, 0, buffer.length, position);
    } catch (error) {
      throw failure(path, error);
    }
  };
  return {
    stamp: () => {
      try {
        return stampOf(fstatSync(descriptor, { bigint: true }));
      } catch (error) {
        throw failure(path, error);
      }
    },
    read: (buffer, position) =>
      buffer.length > SYNC_READ_MAX ? readLater(path, descriptor, { buffer, position }) : readNow(buffer, position),
    readNow,
    close: () => closeSync(descriptor),
  };
}

function readLater(path: string, descriptor: number, part: { buffer: Uint8Array; position: number }): Promise<number> {
  return new Promise((resolve, reject) => {
    read(descriptor, part.buffer, 0, part.buffer.length, part.position, (error, count) => {
      if (error === null) resolve(count);
      else reject(failure(path, error));
    });
  });
}

function networkFile(path: string, file: FileHandle): FollowedFile {
  const guard = async <T>(call: () => Promise<T>): Promise<T> => {
    try {
      return await call();
    } catch (error) {
      throw failure(path, error);
    }
  };
  return {
    stamp: () => guard(async () => stampOf(await file.stat({ bigint: true }))),
    read: (buffer, position) => guard(async () => (await file.read(buffer, 0, buffer.length, position)).bytesRead),
    close: () => file.close(),
  };
}

function attempt<T>(path: string, call: () => T): T | null {
  try {
    return call();
  } catch (error) {
    if (isAbsent(error)) return null;
    throw failure(path, error);
  }
}

async function attemptLater<T>(path: string, call: () => Promise<T>): Promise<T | null> {
  try {
    return await call();
  } catch (error) {
    if (isAbsent(error)) return null;
    throw failure(path, error);
  }
}

function isAbsent(error: unknown): boolean {
  const errno = errnoOf(error);
  return errno === "ENOENT" || errno === "ENOTDIR";
}

function assertPlainFile(path: string, stats: BigIntStats): void {
  if (stats.isFile()) return;
  const [kind, remedy] = stats.isDirectory() ? ["a folder", "name the file in it"] : ["no plain file", "name a file on a disk"];
  throw new EnvironmentError("file-unreadable", path, `${path} is ${kind}`, { remedy });
}

function stampOf(stats: BigIntStats): FileStamp {
  return { identity: identityOf(stats), size: Number(stats.size), modified: String(stats.mtimeNs) };
}

function identityOf(stats: BigIntStats): string {
  return `${stats.dev}:${stats.ino}`;
}

const UNREADABLE = new Set(["EACCES", "EPERM", "EISDIR", "ELOOP", "ENXIO"]);
const USED_UP = new Set(["EMFILE", "ENFILE", "ENOMEM"]);

function failure(path: string, cause: unknown): EnvironmentError {
  if (cause instanceof EnvironmentError) return cause;
  const errno = errnoOf(cause) ?? "";
  if (UNREADABLE.has(errno)) {
    return new EnvironmentError("file-unreadable", path, `${path} cannot be opened for reading`, {
      cause,
      remedy: "check the owner and mode of the file and of its directory",
    });
  }
  if (USED_UP.has(errno)) {
    return new EnvironmentError("too-many-files", path, `no descriptor is left to read ${path}`, {
      cause,
      remedy: "raise the limit of open files (LimitNOFILE of the unit)",
    });
  }
  return new EnvironmentError("file-read-failed", path, `failed to read ${path}`, {
    cause,
    remedy: "look for errors of the disk in the kernel log",
  });
}

/** Superblock numbers of filesystems whose other clients' writes raise no event here (statfs(2), linux/magic.h). */
const NETWORK_FILESYSTEMS: ReadonlyMap<number, string> = new Map([
  [0x6969, "NFS"],
  [0x517b, "SMB"],
  [0xff534d42, "CIFS"],
  [0xfe534d42, "SMB2"],
  [0x65735546, "FUSE"],
  [0x01021997, "9P"],
  [0x00c36400, "Ceph"],
  [0x5346414f, "AFS"],
  [0x6b414653, "AFS"],
  [0x73757245, "Coda"],
  [0x01161970, "GFS2"],
  [0x7461636f, "OCFS2"],
  [0x0bd00bd0, "Lustre"],
  [0x786f4256, "vboxsf"],
]);

async function observeFilesystem(directory: string): Promise<FilesystemKind> {
  const stats = await attemptLater(directory, () => statfs(directory));
  return stats === null ? { kind: "absent" } : filesystemOf(stats.type);
}

/** The number comes from the kernel as a long and may be negative where bit 31 is set. */
export function filesystemOf(magic: number): FilesystemKind {
  const name = NETWORK_FILESYSTEMS.get(magic >>> 0);
  return name === undefined ? { kind: "local" } : { kind: "network", name };
}
