import { stat } from "node:fs/promises";
import { join } from "node:path";
import { EnvironmentError, errnoOf, sha256, type Files, type ServiceDriver, parseJsonOrNull } from "@berth/host";
import { z } from "zod";
import type { NamedPaths } from "./named-activation.js";
import { filesDigest, NAMED_SERVICE, type NamedGoal } from "./named-goal.js";

/** Digest of a file's content, null for none; reads it only when it changed since the last time. */
export interface FileDigests {
  of(path: string): Promise<string | null>;
}

export function createFileDigests(files: Files): FileDigests {
  const known = new Map<string, { readonly mark: string; readonly digest: string }>();
  return {
    async of(path) {
      const mark = await markOf(path);
      if (mark === null) {
        known.delete(path);
        return null;
      }
      const remembered = known.get(path);
      if (remembered?.mark === mark) return remembered.digest;
      const content = await files.read(path);
      if (content === null) return null;
      const digest = sha256(content);
      known.set(path, { mark, digest });
      return digest;
    },
  };
}

/** A file replaced by rename has another inode: time stamps alone miss two writes within one tick. */
async function markOf(path: string): Promise<string | null> {
  try {
    const { dev, ino, size, mtimeNs } = await stat(path, { bigint: true });
    return `${dev}:${ino}:${size}:${mtimeNs}`;
  } catch (cause) {
    const errno = errnoOf(cause);
    if (errno === "ENOENT" || errno === "ENOTDIR") return null;
    throw new EnvironmentError("file-unreadable", path, `failed to look at ${path}`, { cause });
  }
}

/** The digest of what lies on disk, in the goal's order of zones; null when any of it is missing. */
export async function readWrittenDigest(
  ports: { readonly digests: FileDigests; readonly paths: NamedPaths },
  goal: NamedGoal,
): Promise<string | null> {
  const conf = await ports.digests.of(ports.paths.conf);
  const zones: { file: string; digest: string }[] = [];
  for (const { file } of goal.zones) {
    const digest = await ports.digests.of(join(ports.paths.zones, file));
    if (digest === null) return null;
    zones.push({ file, digest });
  }
  return conf === null ? null : filesDigest(conf, zones);
}

/** What this agent itself saw named serve: known even where the disk was too full to keep it. */
export interface ServedRecord {
  last: { readonly pid: number; readonly startTicks: number; readonly digest: string } | null;
}

const runningSchema = z.object({ pid: z.number(), startTicks: z.number(), digest: z.string() });

/**
 * What the running named was last seen to serve; null when none runs. A named that runs and of which nothing is recorded (the agent was
 * killed between reload and record) has loaded we know not what: `unknown`, which no digest equals.
 */
export async function readRunning(ports: {
  readonly files: Files;
  readonly driver: ServiceDriver;
  readonly paths: NamedPaths;
  readonly served: ServedRecord;
}): Promise<string | null> {
  const instance = await ports.driver.find(NAMED_SERVICE);
  if (instance === null) return null;
  const { last } = ports.served;
  if (last?.pid === instance.pid && last.startTicks === instance.startTicks) return last.digest;
  const content = await ports.files.read(ports.paths.running, 64 * 1024);
  if (content === null) return "unknown";
  const parsed = runningSchema.safeParse(parseJsonOrNull(Buffer.from(content).toString("utf8")));
  const record = parsed.success ? parsed.data : null;
  return record?.pid === instance.pid && record.startTicks === instance.startTicks ? record.digest : "unknown";
}
