import type { Problem } from "@berth/core";
import { EnvironmentError } from "@berth/host";

interface Kind {
  readonly code: string;
  readonly message: string;
  readonly remedy: string;
}

/** The code of every failure to write. */
export const UNWRITABLE = "store-unwritable";

/** SQLite's primary result codes, by what an operator can do (sqlite.org/rescode.html). */
const KINDS: readonly (readonly [RegExp, Kind])[] = [
  [
    /^SQLITE_CONSTRAINT/,
    {
      code: "store-conflict",
      message: "the database refused the change",
      remedy: "somebody else has it already; look again and retry",
    },
  ],
  [/^SQLITE_FULL/, { code: UNWRITABLE, message: "the disk is full", remedy: "free space on the file system of the data folder" }],
  [
    /^SQLITE_(READONLY|PERM|AUTH|CANTOPEN)/,
    {
      code: UNWRITABLE,
      message: "the database may not be written",
      remedy: "check owner and mode of the data folder and its files",
    },
  ],
  [
    /^SQLITE_(BUSY|LOCKED|PROTOCOL)/,
    { code: UNWRITABLE, message: "another program holds the database", remedy: "end the program that has it open for writing" },
  ],
  [
    /^SQLITE_(CORRUPT|NOTADB)/,
    { code: "store-damaged", message: "the database is damaged", remedy: "stop the coordinator and restore a backup" },
  ],
  [/^SQLITE_IOERR/, { code: UNWRITABLE, message: "the disk failed", remedy: "see the kernel log for I/O errors" }],
];

/** An error of the engine as an environment failure; anything else passes unchanged, because it is a bug or was named already. */
export function storeError(cause: unknown, file: string, direction: "read" | "write"): unknown {
  const code = sqliteCode(cause);
  if (code === null) return cause;
  const kind = KINDS.find(([pattern]) => pattern.test(code))?.[1];
  const verb = direction === "read" ? "read" : "write";
  if (kind === undefined) {
    return new EnvironmentError(direction === "read" ? "store-unreadable" : UNWRITABLE, file, `failed to ${verb} ${file}`, {
      cause,
    });
  }
  return new EnvironmentError(kind.code, file, `failed to ${verb} ${file}: ${kind.message}`, { cause, remedy: kind.remedy });
}

function sqliteCode(error: unknown): string | null {
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string") return null;
  return error.code.startsWith("SQLITE_") ? error.code : null;
}

/** A failure to write as it is told while it lasts. */
export function problemOf({ code, at, message, remedy }: EnvironmentError): Problem {
  const consequence = `${message}; racks serve on, but no change is taken`;
  return remedy === undefined ? { code, at, message: consequence } : { code, at, message: consequence, remedy };
}
