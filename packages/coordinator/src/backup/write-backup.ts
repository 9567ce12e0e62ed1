import { BERTH_VERSION } from "@berth/core";
import { EnvironmentError, errnoOf, type Clock } from "@berth/host";
import { createHash, randomUUID } from "node:crypto";
import { open, readdir, rename, rm, stat, type FileHandle } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { migrationsDone, refuseNewer } from "../store/migrate.js";
import { backupTables, rowLine, type BackupHeader } from "./backup-format.js";
import { readRegion, type RegionDatabase, type RegionPlace } from "./region-database.js";

const WRITE_AT = 256 * 1024;
/** Nothing was written for so long: nobody is writing it any more. */
const LEFT_MS = 3_600_000;

/**
 * Writes a backup of a region while it is in use, as it is at one moment. The file is there, whole and on disk, when this resolves, or not at
 * all; it holds secrets' hashes and is its owner's alone. Answers the number of rows. Throws `backup-unwritable` and what the store throws.
 */
export async function writeBackup(place: RegionPlace, path: string, clock: Clock): Promise<number> {
  return readRegion(place, clock, async (region) => {
    await refuseNewer(region.query, region.shown);
    return writeWhole({ path, nowMs: clock.now() }, (write) => writeRegion(region, clock, write));
  });
}

async function writeRegion(region: RegionDatabase, clock: Clock, write: (line: string) => Promise<string>): Promise<number> {
  const header: BackupHeader = {
    format: "berth-backup",
    formatVersion: 1,
    version: BERTH_VERSION,
    migrations: [...(await migrationsDone(region.query))],
    at: clock.now(),
  };
  if (header.migrations.length === 0)
    throw new EnvironmentError("store-absent", region.shown, `there is no region in ${region.shown}`);
  let sha256 = await write(JSON.stringify(header));
  let rows = 0;
  for (const table of backupTables(await region.tables())) {
    for await (const row of region.rows(table)) {
      sha256 = await write(rowLine(table, row));
      rows += 1;
    }
  }
  await write(JSON.stringify({ rows, sha256 }));
  return rows;
}

/** `write` takes one line and answers the digest of all so far. */
async function writeWhole<T>(
  { nowMs, path }: { readonly path: string; readonly nowMs: number },
  body: (write: (line: string) => Promise<string>) => Promise<T>,
): Promise<T> {
  const temporary = `${path}.${randomUUID()}.part`; // another backup may be writing the same file
  try {
    await removeLeftovers(path, nowMs);
    const file = await open(temporary, "wx", 0o600);
    const result = await writeLines(file, body).finally(() => file.close());
    await rename(temporary, path);
    const directory = await open(dirname(path), "r");
    await directory.sync().finally(() => directory.close());
    return result;
  } catch (cause) {
    await rm(temporary, { force: true });
    if (errnoOf(cause) === null || cause instanceof EnvironmentError || !/^E[A-Z]+$/.test(errnoOf(cause) ?? "")) throw cause;
    const remedy = "name a file in a folder that can be written and has room";
    throw new EnvironmentError("backup-unwritable", path, `failed to write ${path} (${errnoOf(cause) ?? ""})`, { cause, remedy });
  }
}

/** What a backup that was killed left beside its file. One that is being written changes all the time. */
async function removeLeftovers(path: string, nowMs: number): Promise<void> {
  const folder = dirname(path);
  const left = (await readdir(folder)).filter((name) => name.startsWith(`${basename(path)}.`) && name.endsWith(".part"));
  for (const leftover of left.map((name) => join(folder, name))) {
    const found = await stat(leftover).catch(() => null); // gone: its owner is done with it
    if (found !== null && nowMs - found.mtimeMs > LEFT_MS) await rm(leftover, { force: true });
  }
}

async function writeLines<T>(file: FileHandle, body: (write: (line: string) => Promise<string>) => Promise<T>): Promise<T> {
  const digest = createHash("sha256");
  let pending: string[] = [];
  let octets = 0;
  const flush = async (): Promise<void> => {
    await file.appendFile(pending.join(""));
    pending = [];
    octets = 0;
  };
  const result = await body(async (line) => {
    const text = `${line}\n`;
    digest.update(text);
    pending.push(text);
    octets += text.length;
    if (octets >= WRITE_AT) await flush();
    return digest.copy().digest("hex");
  });
  await flush();
  await file.sync();
  return result;
}
