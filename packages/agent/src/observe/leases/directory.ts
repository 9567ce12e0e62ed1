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

export interface EntryListener {
  /** Asked first, before any work: our own or anyone's other files in that directory must cost nothing. */
  concerns(name: string | null): boolean;
  wake(): void;
}

export function watchLeasesDirectory(directory: string, ports: DirectoryPorts, listener: EntryListener): WatchedDirectory {
  return new LeasesDirectory(directory, ports, listener);
}

class LeasesDirectory implements WatchedDirectory {
  watching: FollowWatching = { kind: "no-directory" };
  files: FollowFiles;
  freeBytes: number | null = null;
  wakes = 0;
  readonly #directory: string;
  readonly #ownName: string;
  readonly #ports: DirectoryPorts;
  readonly #listener: EntryListener;
  #watch: DirectoryWatch | null = null;
  /** Of the directory that is watched or polled; null makes the next look begin again. */
  #identity: string | null = null;

  constructor(directory: string, ports: DirectoryPorts, listener: EntryListener) {
    this.#directory = directory;
    this.#ownName = basename(directory);
    this.#ports = ports;
    this.#listener = listener;
    this.files = ports.local;
  }

  async tend(): Promise<void> {
    const { network } = this.#ports;
    this.freeBytes = await network.freeBytes(this.#directory);
    const found = await network.directoryIdentity(this.#directory);
    if (found !== null && found === this.#identity) return;
    this.close();
    const filesystem = await network.filesystem(this.#directory);
    if (found === null || filesystem.kind === "absent") {
      this.watching = { kind: "no-directory" };
    } else if (filesystem.kind === "network") {
      this.files = network;
      this.watching = { kind: "polling", reason: "network", detail: filesystem.name };
      this.#identity = found;
    } else {
      this.files = this.#ports.local;
      this.#arm(found);
    }
  }

  close(): void {
    this.#watch?.close();
    this.#watch = null;
    this.#identity = null;
  }

  #arm(found: string): void {
    try {
      this.#watch = this.files.watch(this.#directory, {
        onEntry: (name) => this.#noteEntry(name),
        onFailure: (error) => {
          this.close();
          this.watching = unwatchable(error);
        },
      });
      this.#identity = found;
      this.watching = { kind: "events" };
    } catch (error) {
      if (!(error instanceof EnvironmentError)) throw error;
      this.watching = unwatchable(error);
    }
  }

  #noteEntry(name: string | null): void {
    // An event of the directory itself comes under its own name: it was moved or removed, and the next one of that name may even get the
    // same inode number.
    if (name === this.#ownName) this.#identity = null;
    else if (!this.#listener.concerns(name)) return;
    this.wakes += 1;
    this.#listener.wake();
  }
}

function unwatchable(error: EnvironmentError): FollowWatching {
  return { kind: "polling", reason: "unwatchable", detail: describeError(error) };
}
