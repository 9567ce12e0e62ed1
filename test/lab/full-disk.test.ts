import { mkdirSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createLab, type Lab } from "./lab.js";
import { programSource } from "./programs.js";

let lab: Lab;
beforeAll(async () => {
  lab = await createLab({ name: "full-disk.test" });
});
afterAll(() => lab.close());

it("keeps the old content on a disk that is really full, leaves no temporary file, and writes again", async () => {
  const host = await lab.addHost("one");
  const disk = host.path("disk");
  mkdirSync(disk);
  // ip-netns(8) gives each program a mount namespace of its own: the host sees nothing of this mount.
  const script = 'mount -t tmpfs -o size=128k tmpfs "$1" && exec node --import tsx "$0" "$1"';
  const root = fileURLToPath(new URL("../..", import.meta.url));
  const output = await host.runOrThrow(["sh", "-c", script, programSource("replace-on-full-disk.ts"), disk], { cwd: root });
  expect(JSON.parse(output)).toEqual({
    code: "file-unwritable",
    cause: "ENOSPC",
    kept: true,
    names: ["desired.json"],
    afterwards: "small",
  });
  expect(readdirSync(disk)).toEqual([]);
});
