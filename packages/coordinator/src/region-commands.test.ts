import { spawn, spawnSync } from "node:child_process";
import { constants } from "node:fs";
import { mkdtemp, open, rm, type FileHandle } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

const MAIN = resolve(import.meta.dirname, "main.ts");
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-commands-"));
});
afterEach(() => rm(folder, { recursive: true }));

/** Opens once somebody reads it. */
function openForWriting(fifo: string): Promise<FileHandle> {
  return vi.waitUntil(() => open(fifo, constants.O_WRONLY | constants.O_NONBLOCK).catch(() => null), {
    timeout: 30_000,
    interval: 50,
  });
}

test("a command that waits for a file that never comes is ended by the first signal", async () => {
  const fifo = join(folder, "backup");
  expect(spawnSync("mkfifo", [fifo]).status).toBe(0);
  const child = spawn(process.execPath, ["--import", "tsx", MAIN, "check", fifo], { stdio: "ignore" });
  const ended = new Promise((done) => child.once("exit", (code, signal) => done({ code, signal })));
  const writer = await openForWriting(fifo);
  child.kill("SIGTERM");
  expect(await ended).toEqual({ code: null, signal: "SIGTERM" });
  await writer.close();
}, 60_000);
