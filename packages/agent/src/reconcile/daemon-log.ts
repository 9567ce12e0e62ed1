import { copyFile, open, stat, truncate } from "node:fs/promises";
import { EnvironmentError, errnoOf } from "@berth/host";

/** What a daemon says at start-up is short; more than this is not read. */
const READ_MAX = 64 * 1024;

/** The size of the log now: what a daemon writes from here on is its own. */
export async function logOffset(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (cause) {
    if (errnoOf(cause) === "ENOENT") return 0;
    throw logError(path, cause);
  }
}

/** What was appended since `offset`, its last {@link READ_MAX} octets. */
export async function readLogSince(path: string, offset: number): Promise<string> {
  const size = await logOffset(path);
  const from = Math.max(offset, size - READ_MAX);
  if (size <= from) return "";
  const file = await open(path, "r").catch((cause: unknown) => {
    throw logError(path, cause);
  });
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size - from), 0, size - from, from);
    return buffer.toString("latin1", 0, bytesRead);
  } finally {
    await file.close();
  }
}

/** A daemon's log may grow to this; the part before it is kept once, as `.1`. */
const LOG_MAX = 16 * 1024 * 1024;

/** Keeps the log of a running daemon bounded. It writes in append mode, so the file can be emptied under it; a few lines may be lost. */
export async function boundLog(path: string, max = LOG_MAX): Promise<void> {
  if ((await logOffset(path)) <= max) return;
  try {
    await copyFile(path, `${path}.1`);
  } catch (cause) {
    // On a full disk the past is given up: that frees the room, and a rack must not lose its agent over a log.
    if (errnoOf(cause) !== "ENOSPC") throw logError(path, cause);
  }
  await truncate(path, 0).catch((cause: unknown) => {
    throw logError(path, cause);
  });
}

function logError(path: string, cause: unknown): EnvironmentError {
  return new EnvironmentError("log-unusable", path, `failed to use the log ${path}`, { cause });
}

/** The lines that say why, for a problem's message: the last few that are not banner. */
export function lastWords(log: string, lines = 3): string {
  const said = log
    .split("\n")
    .map((line) => line.replace(/[^\x20-\x7e]/g, " ").trim())
    .filter((line) => line !== "" && !BANNER.test(line));
  return said.slice(-lines).join("; ").slice(0, 600);
}

const BANNER =
  /^(Internet Systems Consortium|Copyright|All rights reserved|For info, please|Config file:|Database file:|PID file:|If you think you have received|than a configuration issue|before submitting a bug|bugs on either our web page|process and the information|this version of ISC|software|exiting\.?$|Please report|To contribute|enhancements)/i;
