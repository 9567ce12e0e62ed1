import { EnvironmentError, errnoOf } from "@berth/host";
import { UNWRITABLE } from "../store-error.js";

interface Kind {
  readonly code: string;
  readonly message: string;
  readonly remedy: string;
}

export const UNREACHABLE = "store-unreachable";

/** SQLSTATEs by what an operator can do (PostgreSQL 15 manual, appendix A). */
const KINDS: readonly (readonly [RegExp, Kind])[] = [
  [
    /^23/,
    {
      code: "store-conflict",
      message: "the database refused the change",
      remedy: "somebody else has it already; look again and retry",
    },
  ],
  [/^53100/, { code: UNWRITABLE, message: "the database's disk is full", remedy: "free space on the disk of the database" }],
  [
    /^53/,
    { code: UNWRITABLE, message: "the database has no room for this", remedy: "look for memory and max_connections in its log" },
  ],
  [
    /^(25006|42501)/,
    { code: UNWRITABLE, message: "the database may not be written", remedy: "give the user the right to write, on a primary" },
  ],
  [
    /^(55P03|57014|40)/,
    { code: UNWRITABLE, message: "another program holds the database", remedy: "end the transaction that holds its tables" },
  ],
  [
    /^(XX00[12])/,
    { code: "store-damaged", message: "the database is damaged", remedy: "stop the coordinators and restore a backup" },
  ],
  [/^58/, { code: UNWRITABLE, message: "the database's disk failed", remedy: "see the kernel log of the database's host" }],
  [
    /^28/,
    { code: UNREACHABLE, message: "the database refuses the user", remedy: "correct user and password in the database's URL" },
  ],
  [/^3D000/, { code: UNREACHABLE, message: "there is no such database", remedy: "create it, or correct its name in the URL" }],
];

/**
 * What the driver and Node call a connection that broke or never came about; SQLSTATE classes 08 and 57P, a session that was
 * mute for too long, and a primary that became a standby.
 */
const LOST = /^(CONNECT|CONNECTION_|E[A-Z]{3,}$|08|57P|25P03|25006)/;

/** Whether the connection is of no more use: what was asked over it may be asked again over another one. */
export function isConnectionLost(error: unknown): boolean {
  return LOST.test(errnoOf(error) ?? "");
}

/** Another try cannot help: only a person can. */
export function isHopeless(error: unknown): boolean {
  return /^(28|3D000)/.test(errnoOf(error) ?? "");
}

/** An error of the engine as an environment failure; anything else passes unchanged, because it is a bug or was named already. */
export function postgresError(cause: unknown, shown: string, direction: "read" | "write"): unknown {
  const code = cause instanceof EnvironmentError ? null : errnoOf(cause);
  if (code === null) return cause;
  const kind = KINDS.find(([pattern]) => pattern.test(code))?.[1];
  if (kind !== undefined)
    return new EnvironmentError(kind.code, shown, `failed to ${direction} ${shown}: ${kind.message}`, {
      cause,
      remedy: kind.remedy,
    });
  if (isConnectionLost(cause)) return unreachable(shown, cause);
  const otherwise = direction === "read" ? "store-unreadable" : UNWRITABLE;
  return /^[0-9A-Z]{5}$/.test(code)
    ? new EnvironmentError(otherwise, shown, `failed to ${direction} ${shown}`, { cause })
    : cause;
}

export function unreachable(shown: string, cause: unknown): EnvironmentError {
  const remedy = "bring the database back; the coordinator finds it by itself, and answers what it knows meanwhile";
  return new EnvironmentError(UNREACHABLE, shown, `no server of ${shown} can be written`, { cause, remedy });
}
