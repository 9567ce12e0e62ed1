import { basename } from "node:path";
import type { FollowWatching } from "@berth/core";
import { describeError, EnvironmentError, type DirectoryWatch, type FollowFiles } from "@berth/host";

/** Keeps a watch on the directory that now has that name, whatever happens to it. */
export interface WatchedDirectory {
  readonly watching: FollowWatching;
  /** The calls to use for files there. */
  readonly files: FollowFiles;
  /** Octets left on its disk; null while unknown. */
  readonly freeBytes: number | null;
  /** Directory events that passed the filter. */
  readonly wakes: number;
  /** Looks whether the directory is still the one that is watched, and watches again if not. */
  tend(): Promise<void>;
  close(): void;
}

export interface DirectoryPorts {
  readonly local: FollowFiles;
  readonly network: FollowFiles;
}

/** `concerns` is asked first, before any work: our own or anyone's other files in that directory must cost nothing. */
export function watchLeasesDirectory(
  directory: string,
  ports: DirectoryPorts,
  listener: { concerns(name: string | null): boolean; wake(): void },
): WatchedDirectory {
  const ownName = basename(directory);
  let watch: DirectoryWatch | null = null;
  let identity: string | null = null;
  let watching: FollowWatching = { kind: "no-directory" };
  let files = ports.local;
  let wakes = 0;
  let freeBytes: number | null = null;

  const disarm = (): void => {
    watch?.close();
    watch = null;
    identity = null;
  };

  const arm = (found: string): void => {
    try {
      watch = files.watch(directory, {
        onEntry(name) {
          // An event of the directory itself comes under its own name: it was moved or removed, and the next one of that name may even
          // get the same inode number.
          if (name === ownName) identity = null;
          else if (!listener.concerns(name)) return;
          wakes += 1;
          listener.wake();
        },
        onFailure(error) {
          disarm();
          watching = unwatchable(error);
        },
      });
      identity = found;
      watching = { kind: "events" };
    } catch (error) {
      if (!(error instanceof EnvironmentError)) throw error;
      watching = unwatchable(error);
    }
  };

  const tend = async (): Promise<void> => {
    freeBytes = await ports.network.freeBytes(directory);
    const found = await ports.network.directoryIdentity(directory);
    if (found !== null && found === identity) return;
    disarm();
    const kind = await ports.network.filesystem(directory);
    if (found === null || kind.kind === "absent") {
      watching = { kind: "no-directory" };
      return;
    }
    files = kind.kind === "network" ? ports.network : ports.local;
    if (kind.kind === "local") {
      arm(found);
      return;
    }
    watching = { kind: "polling", reason: "network", detail: kind.name };
    identity = found;
  };

  return {
    get watching() {
      return watching;
    },
    get files() {
      return files;
    },
    get freeBytes() {
      return freeBytes;
    },
    get wakes() {
      return wakes;
    },
    tend,
    close: disarm,
  };
}

function unwatchable(error: EnvironmentError): FollowWatching {
  return { kind: "polling", reason: "unwatchable", detail: describeError(error) };
}
