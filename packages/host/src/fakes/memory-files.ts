import { dirname } from "node:path";
import { EnvironmentError } from "../errors.js";
import type { Files } from "../files.js";

/**
 * What a disk does to `replace` and `write`: `disk-full` and `short-write` at the temporary file, `rename-fails` before the name changes hands, so the old
 * content stays; `directory-sync-fails` after it, so the new content is there although `replace` threw.
 */
export type ReplaceFault = "disk-full" | "short-write" | "rename-fails" | "directory-sync-fails";

/** What a disk does to the other calls. */
export type OtherFault = "read-fails" | "mkdir-fails" | "remove-fails";

export interface MemoryFiles extends Files {
  /** The next call it applies to fails so; with a path, the next one on that path. Faults queue up. */
  failNext(fault: ReplaceFault | OtherFault, path?: string): void;
  /** Every call it applies to fails so from now on; null ends all faults. */
  failAlways(fault: ReplaceFault | OtherFault | null): void;
  /** Puts a file there as another program would, parents included. */
  put(path: string, content: string | Uint8Array, mode?: number): void;
  /** The content as text, or null when there is no file. */
  text(path: string): string | null;
  mode(path: string): number | null;
  /** All paths of files, sorted. */
  readonly paths: readonly string[];
}

interface Entry {
  readonly content: Uint8Array;
  readonly mode: number;
}

interface Fault {
  readonly kind: ReplaceFault | OtherFault;
  readonly path: string | undefined;
}

const READ_MAX = 256 * 1024 * 1024;

const CAUSES: Readonly<Record<ReplaceFault | OtherFault, readonly [string, string]>> = {
  "disk-full": ["ENOSPC", "no space left on device, write"],
  "short-write": ["EIO", "i/o error after half of the content, write"],
  "rename-fails": ["EIO", "i/o error, rename"],
  "directory-sync-fails": ["EIO", "i/o error, fsync"],
  "read-fails": ["EIO", "i/o error, read"],
  "mkdir-fails": ["EACCES", "permission denied, mkdir"],
  "remove-fails": ["EACCES", "permission denied, unlink"],
};

/** Files and directories in memory, with the faults of a real disk on demand. `/` is there. */
export function createMemoryFiles(): MemoryFiles {
  return new MemoryTree();
}

class MemoryTree implements MemoryFiles {
  readonly #files = new Map<string, Entry>();
  readonly #directories = new Set<string>(["/"]);
  #faults: Fault[] = [];
  #always: ReplaceFault | OtherFault | null = null;

  get paths(): readonly string[] {
    return [...this.#files.keys()].sort();
  }

  failNext(fault: ReplaceFault | OtherFault, path?: string): void {
    this.#faults.push({ kind: fault, path });
  }

  failAlways(fault: ReplaceFault | OtherFault | null): void {
    this.#always = fault;
    if (fault === null) this.#faults = [];
  }

  put(path: string, content: string | Uint8Array, mode = 0o644): void {
    for (let d = dirname(path); !this.#directories.has(d); d = dirname(d)) this.#directories.add(d);
    this.#files.set(path, { content: bytesOf(content), mode });
  }

  text(path: string): string | null {
    const entry = this.#files.get(path);
    return entry === undefined ? null : new TextDecoder().decode(entry.content);
  }

  mode(path: string): number | null {
    return this.#files.get(path)?.mode ?? null;
  }

  async read(path: string, limitBytes = READ_MAX): Promise<Uint8Array | null> {
    await turn();
    const cause = this.#fault(["read-fails"], path) ?? this.#whyNotReadable(path);
    if (cause !== null) {
      throw new EnvironmentError("file-unreadable", path, `failed to read ${path}`, {
        cause,
        remedy: "check the owner and mode of the file",
      });
    }
    const entry = this.#files.get(path);
    if (entry === undefined) return null;
    const size = entry.content.length;
    if (size > limitBytes)
      throw new EnvironmentError("file-too-large", path, `${path} has ${size} octets, more than ${limitBytes}`);
    return entry.content.slice();
  }

  async replace(path: string, content: string | Uint8Array, mode = 0o644): Promise<void> {
    const entry = { content: bytesOf(content), mode }; // as it is now: the caller may change its buffer
    await turn();
    const before = this.#fault(["disk-full", "short-write", "rename-fails"], path) ?? this.#whyNotReplaceable(path);
    if (before === null) this.#files.set(path, entry);
    const cause = before ?? this.#fault(["directory-sync-fails"], path);
    if (cause === null) return;
    throw new EnvironmentError("file-unwritable", path, `failed to write ${path}`, {
      cause,
      remedy: "check free space, owner and mode of the directory",
    });
  }

  async write(path: string, content: string | Uint8Array, mode = 0o644): Promise<void> {
    const entry = { content: bytesOf(content), mode };
    await turn();
    const cause = this.#fault(["disk-full", "short-write"], path) ?? this.#whyNotReplaceable(path);
    if (cause === null) {
      this.#files.set(path, entry);
      return;
    }
    this.#files.delete(path);
    throw new EnvironmentError("file-unwritable", path, `failed to write ${path}`, {
      cause,
      remedy: "check free space, owner and mode of the directory",
    });
  }

  async move(from: string, to: string): Promise<void> {
    await turn();
    const entry = this.#files.get(from);
    const missing = entry === undefined ? errno("ENOENT", "no such file or directory, rename") : null;
    const before = this.#fault(["rename-fails"], to) ?? missing ?? this.#whyNotReplaceable(to);
    if (before === null && entry !== undefined) {
      this.#files.delete(from);
      this.#files.set(to, entry);
    }
    const cause = before ?? this.#fault(["directory-sync-fails"], to);
    if (cause === null) return;
    const remedy = "check owner and mode of the directory";
    throw new EnvironmentError("file-unwritable", to, `failed to move ${from} to ${to}`, { cause, remedy });
  }

  async ensureDirectory(path: string): Promise<void> {
    await turn();
    const cause = this.#fault(["mkdir-fails"], path) ?? this.#whyNoDirectory(path);
    if (cause !== null) {
      throw new EnvironmentError("directory-uncreatable", path, `failed to make the directory ${path}`, { cause });
    }
    for (let d = path; !this.#directories.has(d); d = dirname(d)) this.#directories.add(d);
  }

  async remove(path: string): Promise<void> {
    await turn();
    const isDirectory = this.#directories.has(path);
    const cause = this.#fault(["remove-fails"], path) ?? (isDirectory ? errno("ERR_FS_EISDIR", "path is a directory") : null);
    if (cause !== null) throw new EnvironmentError("file-unremovable", path, `failed to remove ${path}`, { cause });
    this.#files.delete(path);
  }

  #whyNotReadable(path: string): Error | null {
    if (this.#directories.has(path)) return errno("EISDIR", "illegal operation on a directory, read");
    return this.#hasFileAbove(path) ? errno("ENOTDIR", "not a directory, open") : null;
  }

  #whyNotReplaceable(path: string): Error | null {
    if (this.#hasFileAbove(path)) return errno("ENOTDIR", "not a directory, open");
    if (!this.#directories.has(dirname(path))) return errno("ENOENT", "no such file or directory, open");
    return this.#directories.has(path) ? errno("EISDIR", "illegal operation on a directory, rename") : null;
  }

  #whyNoDirectory(path: string): Error | null {
    if (this.#files.has(path)) return errno("EEXIST", "file already exists, mkdir");
    return this.#hasFileAbove(path) ? errno("ENOTDIR", "not a directory, mkdir") : null;
  }

  #hasFileAbove(path: string): boolean {
    for (let d = dirname(path); d !== dirname(d); d = dirname(d)) if (this.#files.has(d)) return true;
    return false;
  }

  #fault(kinds: readonly (ReplaceFault | OtherFault)[], path: string): Error | null {
    const at = this.#faults.findIndex((f) => kinds.includes(f.kind) && (f.path === undefined || f.path === path));
    const queued = at < 0 ? undefined : this.#faults.splice(at, 1)[0]?.kind;
    const kind = queued ?? (this.#always !== null && kinds.includes(this.#always) ? this.#always : null);
    return kind === null ? null : errno(...CAUSES[kind]);
  }
}

function bytesOf(content: string | Uint8Array): Uint8Array {
  return typeof content === "string" ? new TextEncoder().encode(content) : content.slice();
}

function errno(code: string, message: string): Error {
  return Object.assign(new Error(`${code}: ${message}`), { code });
}

/** A disk answers in a later turn, never in the caller's. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
