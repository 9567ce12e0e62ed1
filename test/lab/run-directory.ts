import { randomBytes } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { destroyNamespaces, listNamespaces } from "./namespaces.js";
import { startTimeOf } from "./process-state.js";

/** All labs of this machine: one directory each, named after the lab, with its owner written in it. */
const LABS = join(tmpdir(), "berth-lab");
const OWNER_FILE = "owner.json";

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
  mkdirSync(LABS, { recursive: true, mode: 0o755 });
  const draft = mkdtempSync(join(LABS, ".claim-"));
  const owner: Owner = { pid: process.pid, startTime: startTimeOf(process.pid) ?? "", name };
  writeFileSync(join(draft, OWNER_FILE), JSON.stringify(owner));
  for (let attempt = 0; attempt < 100; attempt++) {
    const id = randomBytes(8).readBigUInt64BE().toString(36).slice(-5);
    const path = join(LABS, id);
    if (existsSync(path)) continue;
    try {
      renameSync(draft, path); // fails when another lab took this id since: its directory is not empty
      // Daemons that gave up root (dhcpd, named) must reach their files below.
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

/** Ends what still runs in a lab and removes its namespaces and files. */
export function destroyLab(id: string): void {
  destroyNamespaces(listNamespaces().filter((name) => name.startsWith(namespacePrefix(id))));
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
  if (!existsSync(LABS)) return [];
  const stale = readdirSync(LABS).filter((id) => /^[0-9a-z]{5}$/.test(id) && !isOwned(join(LABS, id)));
  for (const id of stale) destroyLab(id);
  return stale;
}

function isOwned(path: string): boolean {
  let text: string;
  try {
    text = readFileSync(join(path, OWNER_FILE), "utf8");
  } catch {
    return true; // being removed by its owner or by another reaper at this moment
  }
  const owner = JSON.parse(text) as Owner;
  return startTimeOf(owner.pid) === owner.startTime;
}
