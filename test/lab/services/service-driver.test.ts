import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { ServiceDriver, ServiceInstance, ServiceSpec } from "@berth/host";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Container } from "../container.js";
import type { Host } from "../host.js";
import { createLab, type Lab } from "../lab.js";
import { programSource } from "../programs.js";
import type { Argv } from "../run-program.js";
import { Running } from "../running.js";
import { waitUntil } from "../wait-until.js";
import { proxyDriver } from "./driver-proxy.js";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const DAEMON =
  '#!/bin/sh\necho "runs $*"\n[ "$1" = dies ] && exit 3\n[ "$1" = stubborn ] && trap "" TERM\nwhile :; do sleep 0.05; done\n';
const UNIT = (program: string, folder: string): string => `[Service]
Type=exec
EnvironmentFile=${folder}/daemon.env
ExecStart=${program} $BERTH_ARGS
StandardOutput=append:${folder}/daemon.log
StandardError=inherit
Restart=on-failure
RestartSec=100ms
TimeoutStopSec=1
`;

/** Where a driver does its work. */
interface Place {
  /** The argv of a program there. */
  command(argv: Argv): Argv;
  end(): Promise<void>;
}

const PLACES: readonly [string, (host: Host, program: string, folder: string) => Promise<Place>][] = [
  ["supervised", (host) => Promise.resolve({ command: (argv) => host.command(argv), end: () => Promise.resolve() })],
  [
    "systemd",
    async (host, program, folder) => {
      const container = await Container.boot(host, [ROOT]);
      const unit = UNIT(program, folder);
      await container.run(["sh", "-c", "cat >/etc/systemd/system/berth-daemon.service && systemctl daemon-reload"], {
        input: unit,
      });
      return { command: (argv) => container.command(argv), end: () => container.close() };
    },
  ],
];

describe.each(PLACES)("the contract of service drivers: %s", (kind, prepare) => {
  let lab: Lab;
  let host: Host;
  let place: Place;
  let folder: string;
  let program: string;
  let driver: ServiceDriver;
  const drivers: Running[] = [];

  const startDriver = async (): Promise<ServiceDriver> => {
    const node = ["node", "--import", "tsx", programSource("service-driver.ts"), kind, folder];
    const running = await Running.start(place.command(["sh", "-c", 'cd "$0" && exec "$@"', ROOT, ...node]));
    drivers.push(running);
    await running.waitForLine("ready", { deadlineMs: 60_000 });
    return proxyDriver(running);
  };
  const spec = (...args: string[]): ServiceSpec => ({
    name: "daemon",
    argv: [program, ...args],
    logFile: `${folder}/daemon.log`,
  });
  const run = (argv: Argv) => host.runOutside(place.command(argv));
  const isAliveThere = async ({ pid }: ServiceInstance): Promise<boolean> =>
    (await run(["sh", "-c", `kill -0 ${pid}`])).status === 0;

  beforeAll(async () => {
    lab = await createLab({ name: "service-driver.test" });
    host = await lab.addHost("one");
    folder = host.path("services");
    program = host.path("daemon");
    mkdirSync(folder);
    writeFileSync(program, DAEMON);
    chmodSync(program, 0o755);
    place = await prepare(host, program, folder);
    driver = await startDriver();
  });
  afterAll(async () => {
    await driver.stop("daemon");
    await Promise.all(drivers.map((running) => running.stop({ signal: "SIGKILL" })));
    await place.end();
    await lab.close();
  });

  it("finds nothing where nothing runs, and ends nothing without complaint", async () => {
    expect(await driver.find("daemon")).toBeNull();
    await driver.stop("daemon");
  });

  it("starts a daemon with its arguments and its log, tells what it was started with, and ends it", async () => {
    const started = await driver.start(spec("one", "two=2"), "digest eth0#4");
    expect(started).toMatchObject({ tag: "digest eth0#4" });
    expect(await driver.find("daemon")).toEqual(started);
    await waitUntil(() => readFileSync(`${folder}/daemon.log`, "utf8"), {
      describe: "its log",
      until: (log) => log.includes("runs one two=2\n"),
    });
    await driver.stop("daemon");
    expect([await driver.find("daemon"), await isAliveThere(started)]).toEqual([null, false]);
  });

  it("is found by a driver that is made later", async () => {
    const started = await driver.start(spec("later"), "t");
    drivers.at(-1)?.kill("SIGKILL");
    driver = await startDriver();
    expect(await driver.find("daemon")).toEqual(started);
    await driver.stop("daemon");
  });

  it("tells a daemon that ended by itself from one that runs", async () => {
    // systemd says that the start failed if it sees the end before it says that the program runs.
    await driver.start(spec("dies"), "t").catch((error: unknown) => {
      if (!(error instanceof Error && error.message === "unit-job-failed")) throw error;
    });
    await driver.stop("daemon");
    expect(await driver.find("daemon")).toBeNull();
  });

  it("ends one that ignores to be asked, and one that is stopped", async () => {
    const stubborn = await driver.start(spec("stubborn"), "t");
    await driver.stop("daemon", 200);
    expect(await isAliveThere(stubborn)).toBe(false);
    const hung = await driver.start(spec("hung"), "t");
    await run(["kill", "-STOP", String(hung.pid)]);
    expect(await driver.find("daemon")).toEqual(hung);
    await driver.stop("daemon", 200);
    expect(await isAliveThere(hung)).toBe(false);
  });

  it("never says of a daemon that was killed and runs anew that it runs what we started", async () => {
    const started = await driver.start(spec("killed"), "ours");
    await run(["kill", "-KILL", String(started.pid)]);
    const found = await waitUntil(() => driver.find("daemon"), {
      describe: "it is gone, or another",
      until: (now) => now?.pid !== started.pid && (kind === "supervised" || now !== null),
    });
    expect(found?.tag ?? "").toBe("");
    await driver.stop("daemon");
  });

  it("names a daemon that is not there", async () => {
    const missing = { ...spec(), name: "missing", argv: ["/nonexistent/missing"] as const };
    await expect(driver.start(missing, "t")).rejects.toThrow(kind === "systemd" ? "unit-not-found" : "command-not-found");
  });
});

it("the units are sound, to the last warning", async () => {
  const lab = await createLab({ name: "units" });
  const host = await lab.addHost("one");
  const { status, stderr } = await host.run(["sh", "-c", `systemd-analyze verify ${ROOT}/systemd/*.service`]);
  expect([status, stderr]).toEqual([0, ""]);
  await lab.close();
});
