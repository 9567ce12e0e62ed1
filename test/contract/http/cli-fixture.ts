import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCli } from "../../../packages/cli/src/run-cli.js";
import { listenOnAddress, listenOnSocket } from "../../../packages/coordinator/src/http/listen-api.js";
import { ADMIN_TOKEN, createFixture, type ApiFixture } from "./api-fixture.js";

export interface CliRun {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliFixture extends ApiFixture {
  readonly folder: string;
  readonly urls: { readonly unix: string; readonly tcp: string };
  /** Runs berth against the API over its socket, as the administrator unless the environment says otherwise. */
  berth(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<CliRun>;
  readonly close: () => Promise<void>;
}

/** A real API on a unix socket and on a loopback port, and the command in this process. */
export async function createCliFixture(): Promise<CliFixture> {
  const fixture = await createFixture();
  const closeApi = fixture.close;
  const folder = await mkdtemp(join(tmpdir(), "berth-cli-"));
  const unix = await listenOnSocket(fixture.api, join(folder, "api.sock"));
  const tcp = await listenOnAddress(fixture.api, "127.0.0.1", 0);
  return Object.assign(fixture, {
    folder,
    urls: { unix: unix.url, tcp: tcp.url },
    berth: (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
      runBerth(args, { BERTH_URL: unix.url, BERTH_TOKEN: ADMIN_TOKEN, ...env }, () => fixture.nowMs),
    async close() {
      await unix.close();
      await tcp.close();
      await closeApi();
      await rm(folder, { recursive: true });
    },
  });
}

export async function runBerth(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  now: () => number,
  interrupted: AbortSignal = new AbortController().signal,
  written: { stdout: string; stderr: string } = { stdout: "", stderr: "" },
): Promise<CliRun> {
  const sink = (stream: "stdout" | "stderr") => ({
    isTerminal: false,
    write: (text: string) => {
      written[stream] += text;
    },
  });
  const code = await runCli(args, {
    env,
    stdout: sink("stdout"),
    stderr: sink("stderr"),
    readFile: (path) => readFile(path, "utf8"),
    now,
    interrupted: () => interrupted,
  });
  return { code, ...written };
}
