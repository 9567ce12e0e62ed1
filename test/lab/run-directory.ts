import { randomBytes } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { destroyNamespaces, listNamespaces } from "./namespaces.js";
import { startTimeOf } from "./process-state.js";

/** All labs of this machine: one directory each, named after the lab, with its owner written in it. */
const LABS = join(tmpdir(), "berth-lab");
const OWNER_FILE = "owner.json";
/** A lab that is being claimed has a name that begins so. */
const DRAFT = ".claim-";
const MARK = "BERTH_LAB_ID";
const ABANDONED_MS = 60_000;

interface Owner {
  readonly pid: number;
  /** Tells the owner from a later process with its pid. */
  readonly startTime: string;
  readonly name: string;
}

export interface RunDirectory {
  readonly id: string;
  readonly path: string;
}

/** Takes an id that no other lab of this machine has, and writes down who owns it. */
export function claimRunDirectory(name: string): RunDirectory {
  const draft = makeDraft();
  chmodSync(draft, 0o755); // daemons that gave up root (dhcpd, named) must reach their files below
  const owner: Owner = { pid: process.pid, startTime: startTimeOf(process.pid) ?? "", name };
  writeFileSync(join(draft, OWNER_FILE), JSON.stringify(owner));
  for (let attempt = 0; attempt < 100; attempt++) {
    const id = randomBytes(8).readBigUInt64BE().toString(36).slice(-5);
    const path = join(LABS, id);
    if (existsSync(path)) continue;
    try {
      renameSync(draft, path); // fails when another lab took this id since: its directory is not empty
      mkdirSync(join(path, "files"), { mode: 0o755 });
      return { id, path };
    } catch (error) {
      if (!(error instanceof Error && "code" in error && (error.code === "ENOTEMPTY" || error.code === "EEXIST"))) throw error;
    }
  }
  rmSync(draft, { recursive: true, force: true });
  throw new Error(`no free lab id in ${LABS}`);
}

/** The namespaces of a lab begin so. */
export function namespacePrefix(id: string): string {
  return `bl${id}-`;
}

/** The environment of every program of a lab: by it they are found even before they are in their namespace. */
export function labEnvironment(id: string): Readonly<Record<string, string>> {
  return { [MARK]: id };
}

/** Ends what still runs in a lab and removes its namespaces and files. */
export function destroyLab(id: string): void {
  destroyNamespaces(
    listNamespaces().filter((name) => name.startsWith(namespacePrefix(id))),
    `${MARK}=${id}`,
  );
  rmSync(join(LABS, id), { recursive: true, force: true, maxRetries: 3 });
  try {
    rmdirSync(LABS);
  } catch (error) {
    // Other labs are there, or a neighbour removed it first: both fine.
    if (!(error instanceof Error && "code" in error && (error.code === "ENOTEMPTY" || error.code === "ENOENT"))) throw error;
  }
}

/** Removes the labs whose owner died without closing them, and only those; returns their ids. */
export function reapStaleLabs(): string[] {
  const stale = listLabs().filter((id) => isStale(join(LABS, id)));
  for (const id of stale) destroyLab(id);
  return stale;
}

/** A lab that closes at this moment may take the directory of all labs with it; then it is made again. */
function makeDraft(): string {
  for (let attempt = 0; ; attempt++) {
    mkdirSync(LABS, { recursive: true, mode: 0o755 });
    try {
      return mkdtempSync(join(LABS, DRAFT));
    } catch (error) {
      if (!isMissing(error) || attempt > 100) throw error;
    }
  }
}

function listLabs(): string[] {
  try {
    return readdirSync(LABS);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

function isStale(path: string): boolean {
  try {
    const owner = JSON.parse(readFileSync(join(path, OWNER_FILE), "utf8")) as Owner;
    return startTimeOf(owner.pid) !== owner.startTime;
  } catch (error) {
    if (!isMissing(error)) throw error;
    return isAbandoned(path);
  }
}

/** Without its owner file a lab is being claimed or removed at this moment, or was when its owner died. */
function isAbandoned(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats !== undefined && Date.now() - stats.mtimeMs > ABANDONED_MS;
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
