import { EnvironmentError, errnoOf } from "@berth/host";
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { backupHeaderSchema, backupTrailerSchema, parseRowLine, type BackupHeader, type Row } from "./backup-format.js";

/** A row of a region's plans may be some MiB; what is longer was not written by a backup. */
const LINE_MAX = 256 * 1024 * 1024;

export interface BackupReader {
  header(header: BackupHeader): Promise<void>;
  row(table: string, row: Row): Promise<void>;
}

/**
 * Reads a backup from its beginning to its end; answers the number of rows. Throws `backup-unreadable`, and `backup-damaged` with the line when
 * it is cut short or anything in it was changed: the last line says so, which is why nothing may be kept of what was read before.
 */
export async function readBackup(path: string, reader: BackupReader): Promise<number> {
  const digest = createHash("sha256");
  let rows = 0;
  let number = 0;
  let complete = false;
  const damaged = (why: string): never => {
    const remedy = "take another backup; nothing of this one was kept";
    throw new EnvironmentError("backup-damaged", `${path}:${number}`, `the backup is damaged: ${why}`, { remedy });
  };
  for await (const line of linesOf(path)) {
    number += 1;
    if (complete || line.length > LINE_MAX) damaged("something follows after its end");
    const value = parsed(line) ?? damaged("a line is not JSON");
    if (number === 1) {
      const header = backupHeaderSchema.safeParse(value);
      await reader.header(header.success ? header.data : damaged("it does not begin as a backup of Berth does"));
    } else if (Array.isArray(value)) {
      const { table, row } = parseRowLine(value) ?? damaged("a line is no row");
      await reader.row(table, row);
      rows += 1;
    } else {
      const trailer = backupTrailerSchema.safeParse(value);
      if (!trailer.success) damaged("a line is neither a row nor its end");
      else if (trailer.data.rows !== rows || trailer.data.sha256 !== digest.copy().digest("hex"))
        damaged("its content is not what its last line says");
      complete = true;
    }
    digest.update(`${line}\n`);
  }
  if (!complete) damaged("it is cut short");
  return rows;
}

async function* linesOf(path: string): AsyncIterable<string> {
  try {
    yield* createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY });
  } catch (cause) {
    if (cause instanceof EnvironmentError || !/^E[A-Z]+$/.test(errnoOf(cause) ?? "")) throw cause;
    throw new EnvironmentError("backup-unreadable", path, `failed to read ${path} (${errnoOf(cause) ?? ""})`, { cause });
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return null; // the caller says which line
  }
}
