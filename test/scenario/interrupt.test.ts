import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { runProgram } from "../lab/run-program.js";
import { waitUntil } from "../lab/wait-until.js";

const ROOT = resolve(import.meta.dirname, "../..");

/** The quickstart as a person stops it: at a moment of their own, with nothing left behind. */
describe("quickstart", () => {
  it.each([
    ["while the rack comes up", /namespaces: a region/],
    ["while a fact is being watched", /2\/\d|✔ .*2\/\d/],
  ])("is ended by Ctrl-C %s and leaves nothing behind", async (_, moment) => {
    const child = spawn(process.execPath, ["--import", "tsx", join(ROOT, "scripts/lib/quickstart/main.ts")], {
      cwd: ROOT,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let said = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (text: Buffer) => (said += text.toString()));
    const ended = new Promise<number | null>((done) => child.once("exit", done));
    await waitUntil(() => said, { describe: "the moment", deadlineMs: 60_000, until: (text) => moment.test(text) });
    const prefix = /namespaces of its own: (bl\w+-)\*/.exec(said)?.[1] ?? "";
    expect(await namespacesOf(prefix)).not.toEqual([]);
    child.kill("SIGINT");
    expect(await ended, said).toBe(130);
    expect(await namespacesOf(prefix)).toEqual([]);
    expect(said).toContain("taking everything down");
    expect(await running(prefix)).toEqual([]);
  });
});

async function namespacesOf(prefix: string): Promise<string[]> {
  const { stdout } = await runProgram(["ip", "netns", "list"]);
  return stdout.split("\n").filter((line) => line.startsWith(prefix));
}

/** Programs of that lab by the mark in their environment, wherever they run. */
async function running(prefix: string): Promise<string[]> {
  const mark = `BERTH_LAB_ID=${prefix.slice(2, -1)}`;
  const pids = readdirSync("/proc").filter((entry) => /^\d+$/.test(entry));
  const environments = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/environ`, "latin1").catch(() => "")));
  return pids.filter((_, i) => environments[i]?.split("\0").includes(mark) === true);
}
