import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { mkdir, open, readFile, rename, rm, type FileHandle } from "node:fs/promises";
import { dirname, join } from "node:path";
import { EnvironmentError, errnoOf } from "./errors.js";

/** The files of the host, as few calls as the product needs; paths are absolute. */
export interface Files {
  /**
   * The whole file, or null when there is none. Throws `file-unreadable`, `file-too-large`. What is no plain file (a named pipe, a device) is
   * `file-unreadable` and never waited for; only /dev/stdin and /dev/fd/N, which somebody hands over on purpose, may be pipes.
   */
  read(path: string, limitBytes?: number): Promise<Uint8Array | null>;
  /**
   * Replaces the file whole: temporary file beside it, fsync, rename, fsync of the directory. After it returns the content survives a
   * power cut; if it throws (`file-unwritable`) the old content is still there.
   */
  replace(path: string, content: string | Uint8Array, mode?: number): Promise<void>;
  /**
   * Writes a file that nobody reads before this returns, such as one that is checked first and moved into its place then: fewer trips to the disk than
   * `replace`. Its content is on the disk when this returns, its name may not be. If it throws (`file-unwritable`) there is no file.
   */
  write(path: string, content: string | Uint8Array, mode?: number): Promise<void>;
  /**
   * Gives a file another name, in the place of a file that has it; durable as `replace` is. It needs no room, so it works on a full disk. Throws
   * `file-unwritable`; both are then as they were.
   */
  move(from: string, to: string): Promise<void>;
  /** Makes the directory and its parents. */
  ensureDirectory(path: string, mode?: number): Promise<void>;
  /** Removes the file; none is fine. */
  remove(path: string): Promise<void>;
}

const READ_MAX = 256 * 1024 * 1024;

/** Not opened to be read without waiting: a shell's pipe has its writer. */
const HANDED_OVER = /^\/dev\/(stdin|fd\/\d+)$/;
const NOT_A_FILE = "a plain file has to be there, or none";

export const systemFiles: Files = {
  async read(path, limitBytes = READ_MAX) {
    let file: FileHandle | null = null;
    try {
      const isHandedOver = HANDED_OVER.test(path);
      // A named pipe in a file's place would hold the open until somebody writes to it.
      file = await open(path, isHandedOver ? constants.O_RDONLY : constants.O_RDONLY | constants.O_NONBLOCK);
      const stats = await file.stat();
      if (stats.size > limitBytes)
        throw new EnvironmentError("file-too-large", path, `${path} has ${stats.size} octets, more than ${limitBytes}`);
      if (!isHandedOver && !stats.isFile() && !stats.isDirectory())
        throw new EnvironmentError("file-unreadable", path, `${path} is a pipe or a device, not a file`, { remedy: NOT_A_FILE });
      return isHandedOver && !stats.isFile() ? await readPipe(file, path, limitBytes) : await readFile(file);
    } catch (cause) {
      if (errnoOf(cause) === "ENOENT") return null;
      if (cause instanceof EnvironmentError) throw cause;
      throw new EnvironmentError("file-unreadable", path, `failed to read ${path}`, {
        cause,
        remedy: errnoOf(cause) === "EISDIR" ? NOT_A_FILE : "check the owner and mode of the file",
      });
    } finally {
      await file?.close();
    }
  },

  async replace(path, content, mode = 0o644) {
    const temporary = join(dirname(path), `.${randomUUID()}.tmp`);
    try {
      await writeDurably(temporary, content, mode);
      await rename(temporary, path);
      await syncDirectory(dirname(path));
    } catch (cause) {
      await rm(temporary, { force: true }).catch(() => undefined); // the first failure is the one to tell; this one follows from it
      throw new EnvironmentError("file-unwritable", path, `failed to write ${path}`, {
        cause,
        remedy: "check free space, owner and mode of the directory, and that nothing there is immutable (lsattr)",
      });
    }
  },

  async write(path, content, mode = 0o644) {
    try {
      await rm(path, { force: true });
      await writeDurably(path, content, mode);
    } catch (cause) {
      await rm(path, { force: true }).catch(() => undefined); // the first failure is the one to tell
      throw new EnvironmentError("file-unwritable", path, `failed to write ${path}`, {
        cause,
        remedy: "check free space, owner and mode of the directory",
      });
    }
  },

  async move(from, to) {
    try {
      await rename(from, to);
      await syncDirectory(dirname(to));
    } catch (cause) {
      const remedy = "check owner and mode of the directory, and that neither file is immutable (lsattr)";
      throw new EnvironmentError("file-unwritable", to, `failed to move ${from} to ${to}`, { cause, remedy });
    }
  },

  async ensureDirectory(path, mode = 0o755) {
    try {
      await mkdir(path, { recursive: true, mode });
    } catch (cause) {
      throw new EnvironmentError("directory-uncreatable", path, `failed to make the directory ${path}`, { cause });
    }
  },

  async remove(path) {
    try {
      await rm(path, { force: true });
    } catch (cause) {
      throw new EnvironmentError("file-unremovable", path, `failed to remove ${path}`, { cause });
    }
  },
};

/** Its size is not known before its end, so the limit is held while it is read. */
async function readPipe(file: FileHandle, path: string, limitBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let octets = 0;
  for (;;) {
    const { bytesRead, buffer } = await file.read({ buffer: new Uint8Array(64 * 1024), position: null });
    if (bytesRead === 0) return Buffer.concat(chunks);
    octets += bytesRead;
    if (octets > limitBytes) throw new EnvironmentError("file-too-large", path, `${path} has more than ${limitBytes} octets`);
    chunks.push(buffer.subarray(0, bytesRead));
  }
}

async function writeDurably(path: string, content: string | Uint8Array, mode: number): Promise<void> {
  const file = await open(path, "wx", mode);
  try {
    await file.chmod(mode); // the umask must not decide whether dhcpd and named can read it
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
