import { constants } from "node:fs";
import { chown, open, readdir, readlink, stat, type FileHandle } from "node:fs/promises";
import { describeError, EnvironmentError, errnoOf, type Files, type Log } from "@berth/host";

/** A leases file that somebody removed under a running dhcpd, which still has it open: what it holds is known nowhere else. */
export interface LostLeases {
  /** Puts it back with all that is in it by now; called before dhcpd is ended and once more after it. */
  putBack(): Promise<void>;
  close(): Promise<void>;
}

interface LostLeasesPorts {
  readonly files: Files;
  readonly log: Log;
}

/**
 * Null when the file is where it should be. A dhcpd that is started without it would know of no lease, and give away addresses that are in use. That it cannot
 * be had back never hinders a start.
 */
export async function findLostLeases(pid: number, path: string, { files, log }: LostLeasesPorts): Promise<LostLeases | null> {
  try {
    if (await exists(path)) return null;
    const file = await openDeleted(pid, path);
    if (file === null) return null;
    let kept = -1;
    return {
      async putBack() {
        const { mode, uid, gid } = await file.stat();
        const content = await readAll(file);
        if (content.length === kept) return;
        await files.replace(path, content, mode & 0o777);
        await chown(path, uid, gid); // dhcpd may not be root
        kept = content.length;
        log.warn({ path, octets: kept }, "the leases file was removed under a running dhcpd; it is put back");
      },
      close: () => file.close(),
    };
  } catch (error) {
    if (!(error instanceof EnvironmentError) && errnoOf(error) === null) throw error;
    log.warn({ path, cause: describeError(error) }, "the removed leases file could not be had back");
    return null;
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    (cause: unknown) => {
      if (errnoOf(cause) === "ENOENT") return false;
      throw cause;
    },
  );
}

/** By the name that proc_pid_fd(5) gives a file without one. */
async function openDeleted(pid: number, path: string): Promise<FileHandle | null> {
  const folder = `/proc/${pid}/fd`;
  for (const descriptor of await readdir(folder))
    if ((await readlink(`${folder}/${descriptor}`).catch(() => null)) === `${path} (deleted)`)
      return open(`${folder}/${descriptor}`, constants.O_RDONLY | constants.O_NONBLOCK);
  return null;
}

async function readAll(file: FileHandle): Promise<Buffer> {
  const { size } = await file.stat();
  const buffer = Buffer.alloc(size);
  const { bytesRead } = await file.read(buffer, 0, size, 0);
  return buffer.subarray(0, bytesRead);
}
