import {
  aboutToWrite,
  judgeFile,
  leftProblem,
  NEW_MANAGED_FILE,
  type FileStanding,
  wasOurs,
  type ManagedFileRecord,
  type Problem,
} from "@berth/core";
import { parseJsonOrNull, sha256, type Clock, type Files, type Log } from "@berth/host";
import { z } from "zod";
import type { FileDigests } from "./named-facts.js";

export interface ManagedConfigPorts {
  readonly files: Files;
  readonly digests: FileDigests;
  readonly clock: Clock;
  readonly log: Log;
  readonly path: string;
  /** First line of a file that we wrote. */
  readonly header: string;
}

/** One look at the file. */
export interface FileLook {
  /** Digest of what lies on disk. */
  readonly written: string | null;
  /** It is left to somebody else, and this is told meanwhile. */
  readonly left: Problem | null;
}

/**
 * A configuration file that is ours and replaced whole, with what is remembered of it: what we wrote, what of that served, who else edited it.
 * Beside it lie its candidate, the last content that served (`.good`), and what was there before us (`.before-berth`).
 */
export interface ManagedConfig {
  readonly candidate: string;
  /** Called at every pass. `desired` is the digest of what should lie there. */
  look(desired: string | null): Promise<FileLook>;
  /** Puts the candidate in the file's place. Before that everything is on disk that finding the way back needs. */
  replaceByCandidate(digest: string): Promise<void>;
  /** This content was seen to serve. */
  noteGood(digest: string): Promise<void>;
  /** Was the daemon ever heard to answer on this host? */
  wasHeard(): boolean;
  noteHeard(): Promise<void>;
  /** Digest of what served last and can come back; null when there is none, or when it lies there already. */
  lastGood(): Promise<string | null>;
  /** Puts what served last back; needs no room on the disk. */
  restoreGood(): Promise<void>;
}

const RECORD_MAX = 64 * 1024;
const recordSchema = z.object({
  wrote: z.array(z.string()),
  undone: z.array(z.number()),
  leftTo: z.string().nullable(),
  good: z.string().nullable(),
  heard: z.boolean(),
});

export async function openManagedConfig(ports: ManagedConfigPorts): Promise<ManagedConfig> {
  const { files, digests, log, path } = ports;
  const recordPath = `${path}.managed.json`;
  const good = `${path}.good`;
  let record = await readRecord(files, recordPath);
  let standing: FileStanding = { kind: "ours" };

  async function remember(next: ManagedFileRecord): Promise<void> {
    if (JSON.stringify(next) === JSON.stringify(record)) return;
    await files.replace(recordPath, JSON.stringify(next));
    record = next;
  }

  /** What serves now stays to be had while another content is tried. */
  async function keepGood(): Promise<void> {
    if (record.good === null || (await digests.of(good)) === record.good || (await digests.of(path)) !== record.good) return;
    const content = await files.read(path);
    if (content !== null && sha256(content) === record.good) await files.replace(good, content);
  }

  async function isOurs(): Promise<boolean> {
    const content = await files.read(path);
    return content !== null && Buffer.from(content.subarray(0, ports.header.length)).toString("utf8") === ports.header;
  }

  return {
    candidate: `${path}.candidate`,
    async look(desired) {
      const written = await digests.of(path);
      const isKnown = written === null || written === desired || wasOurs(record, written);
      const found = written === null ? null : { digest: written, isOurs: isKnown || (await isOurs()) };
      standing = judgeFile(record, found, desired, ports.clock.now());
      if (standing.kind !== "left") return { written, left: null };
      if (record.leftTo === null) log.error({ path }, "the file is edited again and again by somebody else; it is left alone");
      await remember(standing.record);
      return { written, left: leftProblem(path) };
    },
    async replaceByCandidate(digest) {
      if (standing.kind === "stranger") await keepStranger(ports);
      if (standing.kind === "edited") log.warn({ path }, "somebody else edited the file; it is put right");
      await keepGood();
      await remember(aboutToWrite(standing.kind === "edited" ? standing.record : record, digest));
      await files.move(`${path}.candidate`, path);
      standing = { kind: "ours" };
    },
    async noteGood(digest) {
      await remember({ ...record, good: digest });
      await keepGood();
    },
    wasHeard: () => record.heard,
    noteHeard: () => remember({ ...record, heard: true }),
    async lastGood() {
      const isThere = record.good !== null && (await digests.of(good)) === record.good;
      return isThere && (await digests.of(path)) !== record.good ? record.good : null;
    },
    restoreGood: () => files.move(good, path),
  };
}

/** What was there before us is kept beside, and what was kept is never overwritten. */
async function keepStranger({ files, log, path }: ManagedConfigPorts): Promise<void> {
  const content = await files.read(path);
  if (content === null) return;
  for (let n = 1; ; n++) {
    const backup = `${path}.before-berth${n === 1 ? "" : `.${n}`}`;
    const kept = await files.read(backup);
    if (kept !== null && sha256(kept) !== sha256(content)) continue;
    if (kept === null) await files.replace(backup, content);
    log.warn({ path, backup }, "a file that is not ours is replaced; it is kept beside, and nothing of it is taken over");
    return;
  }
}

/** A record that is damaged or missing counts as none: the file's first line then tells whose it is. */
async function readRecord(files: Files, path: string): Promise<ManagedFileRecord> {
  const content = await files.read(path, RECORD_MAX);
  if (content === null) return NEW_MANAGED_FILE;
  const parsed = recordSchema.safeParse(parseJsonOrNull(Buffer.from(content).toString("utf8")));
  return parsed.success ? parsed.data : NEW_MANAGED_FILE;
}
