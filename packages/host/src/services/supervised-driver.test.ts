import { spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { systemClock } from "../clock.js";
import { createSupervisedDriver } from "./supervised-driver.js";

describe("supervised driver", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "berth-driver-"));
  });
  afterEach(async () => {
    await createSupervisedDriver(folder, systemClock).stop("daemon");
    await rm(folder, { recursive: true });
  });

  const spec = (script: string) => ({ name: "daemon", argv: ["/bin/sh", "-c", script] as const, logFile: join(folder, "log") });

  it("starts, finds and ends a daemon, and tells what it was started with", async () => {
    const driver = createSupervisedDriver(folder, systemClock);
    expect(await driver.find("daemon")).toBeNull();
    const started = await driver.start(
      { ...spec("echo hello; exec sleep 60"), argv: ["/bin/sh", "-c", "echo hello; exec sleep 60"] },
      "tag-1",
    );
    expect(await driver.find("daemon")).toEqual(started);
    expect(started.tag).toBe("tag-1");
    expect(await createSupervisedDriver(`${folder}/other`, systemClock).find("daemon")).toBeNull();
    await vi.waitFor(async () => expect(await readFile(join(folder, "log"), "utf8")).toBe("hello\n"), { timeout: 10_000 });
    await driver.stop("daemon");
    expect(await driver.find("daemon")).toBeNull();
  });

  it("ends a daemon that ignores SIGTERM", async () => {
    const driver = createSupervisedDriver(folder, systemClock);
    await driver.start({ ...spec(""), argv: ["/bin/sh", "-c", "trap '' TERM; while :; do sleep 0.05; done"] }, "x");
    await driver.stop("daemon", 200);
    expect(await driver.find("daemon")).toBeNull();
  });

  it("ends what a daemon started, too, though it comes to be while the daemon ends", async () => {
    const driver = createSupervisedDriver(folder, systemClock);
    const child = "trap 'sleep 60 & exit' TERM; echo ready; while :; do sleep 0.01; done";
    await driver.start({ ...spec(""), argv: ["/bin/sh", "-c", `sleep 60 & ${child}`] }, "x");
    await vi.waitFor(async () => expect(await readFile(join(folder, "log"), "utf8")).toBe("ready\n"), { timeout: 10_000 });
    const marked = async (): Promise<string[]> => {
      const pids = (await readdir("/proc")).filter((entry) => /^\d+$/.test(entry));
      const environments = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/environ`, "latin1").catch(() => "")));
      return environments.filter((environment) => environment.includes(`BERTH_SERVICE=${folder}\tdaemon\0`));
    };
    expect((await marked()).length).toBeGreaterThan(1);
    await driver.stop("daemon");
    expect(await marked()).toEqual([]);
  });

  it("finds a daemon again whose starter was killed", async () => {
    const script = `
      import { createSupervisedDriver, systemClock } from ${JSON.stringify(join(import.meta.dirname, "../index.ts"))};
      const driver = createSupervisedDriver(${JSON.stringify(folder)}, systemClock);
      await driver.start({ name: "daemon", argv: ["/bin/sleep", "60"], logFile: ${JSON.stringify(join(folder, "log"))} }, "survivor");
      process.kill(process.pid, "SIGKILL");`;
    const starter = spawn(process.execPath, ["--import", "tsx", "--input-type=module", "-e", script], { stdio: "ignore" });
    await new Promise((resolve) => starter.once("exit", resolve));
    const found = await createSupervisedDriver(folder, systemClock).find("daemon");
    expect(found?.tag).toBe("survivor");
  });

  it("reads the process table rarely once a daemon was missed, and yet knows at once what it starts itself", async () => {
    let now = 0;
    // No shell that becomes it: the environment of a process that is just executing another program cannot be read.
    const sleeper = { ...spec(""), argv: ["/bin/sleep", "60"] as const };
    const driver = createSupervisedDriver(folder, { ...systemClock, monotonic: () => now });
    const other = createSupervisedDriver(folder, systemClock);
    now = 20_000;
    expect(await driver.find("daemon")).toBeNull();
    const started = await other.start(sleeper, "x");
    expect(await driver.find("daemon")).toBeNull();
    now = 50_000;
    expect(await driver.find("daemon")).toEqual(started);
    await driver.stop("daemon");
    expect(await driver.find("daemon")).toBeNull();
    const own = await driver.start(sleeper, "y");
    expect(await driver.find("daemon")).toEqual(own);
  });

  it("names a program that is not installed", async () => {
    const driver = createSupervisedDriver(folder, systemClock);
    await expect(driver.start({ ...spec(""), argv: ["berth-no-such-program"] }, "x")).rejects.toMatchObject({
      code: "command-not-found",
    });
  });
});
