import { silentLog, systemClock } from "@berth/host";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createSqliteStore } from "../../../packages/coordinator/src/store/sqlite-store.js";
import type { FullDiskStory } from "./on-full-disk.js";

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-trouble-"));
});
afterEach(() => rm(folder, { recursive: true }));

/** In a mount namespace of its own, so that the host sees nothing of its disks. */
async function runOnDisk(script: string, ...args: readonly string[]): Promise<string> {
  const mount = ["--mount", "--propagation", "private", "sh", "-c", script, "sh", folder, ...args];
  const env = { ...process.env, TSX_TSCONFIG_PATH: here("../../contract/store/kill/tsx.json") };
  const child = spawn("unshare", mount, { env, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  let errors = "";
  child.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (errors += chunk.toString()));
  await once(child, "close");
  expect([child.exitCode, errors]).toEqual([0, ""]);
  return said;
}

test("a disk that is really full is named, loses nothing, and is written again when there is room", async () => {
  const script = 'mount -t tmpfs -o size=2m tmpfs "$1" && exec "$2" --import tsx/esm "$3" "$1"';
  const story = JSON.parse(await runOnDisk(script, process.execPath, here("./on-full-disk.ts"))) as FullDiskStory;
  expect(story).toMatchObject({
    code: "store-unwritable",
    remedy: expect.stringContaining("free space") as string,
    afterwards: true,
  });
  expect(story.read).toBe(story.acknowledged);
  expect(story.reloaded).toBe(story.acknowledged + 1);
});

test("a read-only data folder is named", async () => {
  await (await createSqliteStore(join(folder, "data"), { clock: systemClock, log: silentLog })).close();
  const main = fileURLToPath(new URL("../../../packages/coordinator/bin/berth-coordinator.js", import.meta.url));
  const script =
    'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && ("$2" "$3" serve --data "$1/data" --link 127.0.0.1:0 2>&1; echo "status $?")';
  const said = await runOnDisk(script, process.execPath, main);
  expect(said).toContain("[data-folder-unusable]");
  expect(said).toContain("remedy: check owner and mode");
  expect(said).toContain("status 3");
});
