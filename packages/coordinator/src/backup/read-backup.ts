import { EnvironmentError, errnoOf } from "@berth/host";
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { backupHeaderSchema, backupTrailerSchema, parseRowLine, type BackupHeader, type Row } from "./backup-format.js";

/** A row of a region's plans may be some MiB; what is longer was not written by a backup. */
const LINE_MAX = 64 * 1024 * 1024;
const READ_OCTETS = 256 * 1024;

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
  const tooLong = (): never => {
    number += 1;
    return damaged("a line is longer than any of a backup");
  };
  for await (const line of linesOf(path, tooLong)) {
    number += 1;
    if (complete) damaged("something follows after its end");
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

async function* linesOf(path: string, tooLong: () => never): AsyncIterable<string> {
  try {
    const input = createReadStream(path, { encoding: "utf8", highWaterMark: READ_OCTETS }) as AsyncIterable<string>;
    yield* splitLines(input, tooLong);
  } catch (cause) {
    if (cause instanceof EnvironmentError || !/^E[A-Z]+$/.test(errnoOf(cause) ?? "")) throw cause;
    const remedy = "name the file that 'berth-coordinator backup' wrote, and see that this user may read it";
    throw new EnvironmentError("backup-unreadable", path, `failed to read ${path} (${errnoOf(cause) ?? ""})`, { cause, remedy });
  }
}

/** A last line without its end is a line, too. What has no line ends at all must not fill the memory. */
async function* splitLines(input: AsyncIterable<string>, tooLong: () => never): AsyncIterable<string> {
  let begun: string[] = [];
  let length = 0;
  for await (const chunk of input) {
    let from = 0;
    for (let end = chunk.indexOf("\n"); end >= 0; end = chunk.indexOf("\n", from)) {
      yield begun.join("") + chunk.slice(from, end);
      begun = [];
      length = 0;
      from = end + 1;
    }
    begun.push(chunk.slice(from));
    length += chunk.length - from;
    if (length > LINE_MAX) tooLong();
  }
  if (length > 0) yield begun.join("");
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return null; // the caller says which line
  }
}
