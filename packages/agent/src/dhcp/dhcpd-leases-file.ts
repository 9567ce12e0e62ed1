import { chown, open, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { trimLeases, type Problem } from "@berth/core";
import { describeError, EnvironmentError, errnoOf, localFollowFiles, type Clock, type Files, type Log } from "@berth/host";

/** Beside the leases file itself, which dhcpd writes anew at every start. */
const ROOM_MIN = 64 * 1024;

/** A dhcpd that runs goes on without room; one that is started without it ends. So none is ended that could not come back. */
export async function checkRoom(leases: string): Promise<Problem | null> {
  const free = await localFollowFiles.freeBytes(dirname(leases));
  const needed = ((await localFollowFiles.stamp(leases))?.size ?? 0) + ROOM_MIN;
  if (free === null || free >= needed) return null;
  const message = `${free} octets are free, and dhcpd needs ${needed} to start; the running one is not restarted`;
  return { code: "leases-disk-full", at: leases, message, remedy: "free space on that disk" };
}

/** dhcpd reads a plain file only: a directory ends its start, and a named pipe holds it for ever. */
export async function checkPlain(leases: string): Promise<Problem | null> {
  const stats = await stat(leases).catch((cause: unknown) => {
    throw new EnvironmentError("leases-unreadable", leases, `failed to look at the leases file ${leases}`, { cause });
  });
  if (stats.isFile()) return null;
  const what = stats.isDirectory() ? "a directory" : "a pipe or a device";
  return {
    code: "leases-not-a-file",
    at: leases,
    message: `${leases} is ${what}, and dhcpd needs a file there to start; one that runs is not restarted`,
    remedy: "put the leases file back, or remove what is there",
  };
}

/** dhcpd refuses to start without the file; an existing one is never touched. */
export async function ensureLeasesFile(path: string): Promise<void> {
  try {
    const file = await open(path, "wx", 0o644);
    await file.close();
  } catch (cause) {
    if (errnoOf(cause) !== "EEXIST")
      throw new EnvironmentError("leases-uncreatable", path, `failed to make the leases file ${path}`, { cause });
  }
}

/** Below this dhcpd's start takes no time worth saving; above the other, trimming takes memory that is not worth it. */
const TRIM_MIN = 1024 * 1024;
const TRIM_MAX = 128 * 1024 * 1024;

/**
 * Takes leases that ended long ago out of the file of a dhcpd that does not run: its start takes time that grows faster than their number (60,000 of them
 * took it 10-70 s). That it cannot be done never hinders a start.
 */
export async function dropHistory(
  path: string,
  { files, clock, log }: { readonly files: Files; readonly clock: Clock; readonly log: Log },
): Promise<void> {
  try {
    const before = await stat(path);
    if (before.size < TRIM_MIN || before.size > TRIM_MAX) return;
    const content = await files.read(path);
    const trimmed = content === null ? null : trimLeases(content, clock.now() / 1_000);
    if (trimmed === null) return;
    await files.replace(path, trimmed.bytes, before.mode & 0o777);
    const after = await stat(path);
    if (after.uid !== before.uid || after.gid !== before.gid) await chown(path, before.uid, before.gid);
    log.info(
      { path, dropped: trimmed.dropped, octets: before.size - trimmed.bytes.length },
      "leases that ended long ago are dropped",
    );
  } catch (error) {
    if (!(error instanceof EnvironmentError) && errnoOf(error) === null) throw error;
    log.warn({ path, cause: describeError(error) }, "leases that ended long ago could not be dropped");
  }
}
