import { appendFile, mkdtemp, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { createLogReader } from "./log-reader.js";

let folder: string;
let log: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "berth-log-reader-"))));
afterAll(() => rm(folder, { recursive: true, force: true }));
beforeEach(async () => {
  log = join(folder, "dhcpd.log");
  await writeFile(log, "before\n");
});

const linesOf = ({ lines }: { readonly lines: readonly string[] }) => lines.filter((line) => line !== "");

it("gives whole lines once, and nothing of what was there before it began", async () => {
  const reader = createLogReader(log);
  expect(linesOf(await reader.read())).toEqual([]);
  await appendFile(log, "one\ntwo\r\nthr");
  expect(linesOf(await reader.read())).toEqual(["one", "two"]);
  await appendFile(log, "ee\n");
  expect(linesOf(await reader.read())).toEqual(["three"]);
  expect(await reader.read()).toMatchObject({ isGap: false });
});

it("begins at the start of a log that was not there, and tells of one that was emptied", async () => {
  await rm(log);
  const reader = createLogReader(log);
  await reader.read();
  await writeFile(log, "first line\n");
  expect(linesOf(await reader.read())).toEqual(["first line"]);
  await truncate(log, 0);
  await appendFile(log, "new\n");
  expect(await reader.read()).toEqual({ lines: ["new", ""], isGap: true });
});

it("tells that it left out lines of a storm, and goes on behind them", async () => {
  const reader = createLogReader(log);
  await reader.read();
  await appendFile(log, "storm\n".repeat(20_000));
  expect(await reader.read()).toMatchObject({ isGap: true });
  await appendFile(log, "calm\n");
  expect(await reader.read()).toEqual({ lines: ["calm", ""], isGap: false });
});
