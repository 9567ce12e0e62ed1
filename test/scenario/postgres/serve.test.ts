import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runProgram } from "../../lab/run-program.js";
import { waitUntil } from "../../lab/wait-until.js";
import { PostgresServer } from "./postgres-server.js";

const program = (name: string): string => fileURLToPath(new URL(`../../../packages/${name}`, import.meta.url));
let server: PostgresServer;
let folder: string;
let running: ChildProcess[] = [];

beforeEach(async () => {
  server = await PostgresServer.create(["fsync=off"]);
  folder = await mkdtemp(join(tmpdir(), "berth-serve-"));
});
afterEach(async () => {
  for (const child of running) child.kill("SIGKILL");
  running = [];
  await server.remove();
  await rm(folder, { recursive: true });
});

/** A coordinator in a process of its own; answers how to call `berth` on it. */
function serve(name: string, database: string): (...args: string[]) => Promise<{ status: number; stdout: string }> {
  const data = join(folder, name);
  const args = ["serve", "--data", data, "--database", database, "--link", "127.0.0.1:0", "--api", "127.0.0.1:0"];
  running.push(spawn(process.execPath, [program("coordinator/bin/berth-coordinator.js"), ...args], { stdio: "ignore" }));
  return async (...command) => {
    const env = {
      BERTH_URL: `unix:${join(data, "api.sock")}`,
      BERTH_TOKEN: (await readFile(join(data, "admin.token"), "utf8")).trim(),
    };
    const { status, stdout } = await runProgram([process.execPath, program("cli/bin/berth.js"), ...command, "-o", "json"], {
      env,
    });
    return { status: status ?? -1, stdout };
  };
}

test("two coordinators in two processes serve one region: what is enrolled at one is listed and repeated at the other", async () => {
  const url = server.url(await server.createDatabase("region"));
  const [first, second] = [serve("first", url), serve("second", url)];
  for (const berth of [first, second])
    await waitUntil(async () => (await berth("status")).status === 0, {
      describe: "the API answers",
      deadlineMs: 60_000,
      everyMs: 500,
    });
  const keys = await Promise.all(["first", "second"].map((name) => readFile(join(folder, name, "ca.key"), "utf8")));
  expect(keys[1]).toBe(keys[0]); // one authority: a join line of one is good at the other
  expect((await first("subnet", "create", "10.0.0.0/24", "--domain", "rack.example", "--mode", "static")).status).toBe(0);
  const enrolled = await second("machine", "enroll", "02:00:5e:00:53:01");
  expect(enrolled.status).toBe(0);
  const [asked, told] = [await first("machine", "enroll", "02:00:5e:00:53:01"), await first("allocation", "list")];
  const { allocation } = JSON.parse(enrolled.stdout) as { allocation: { address: string } };
  expect(JSON.parse(asked.stdout)).toMatchObject({ allocation: { address: allocation.address } });
  expect(told.stdout).toContain(allocation.address);

  await server.kill();
  const read = await first("allocation", "list");
  expect([read.status, read.stdout]).toEqual([0, told.stdout]);
  await server.start(["fsync=off"]);
  const again = await first("machine", "enroll", "02:00:5e:00:53:02");
  expect(again.status).toBe(0);

  const [one] = running;
  one?.kill("SIGTERM");
  if (one !== undefined) expect((await once(one, "exit"))[0]).toBe(0);
});
