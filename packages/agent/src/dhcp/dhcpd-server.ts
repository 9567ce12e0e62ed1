import { open } from "node:fs/promises";
import type { Problem } from "@berth/core";
import { EnvironmentError, errnoOf, type Clock, type Commands, type Files, type Log, type ServiceDriver } from "@berth/host";
import { followLeases } from "../observe/leases/follow-leases.js";
import { lastWords, logOffset, readLogSince } from "../reconcile/daemon-log.js";
import { checkPortFree } from "../reconcile/port-holder.js";
import type { ApplyRequest, DhcpServer } from "./dhcp-server.js";

export interface DhcpdPaths {
  /** Program name or path. */
  readonly program: string;
  readonly config: string;
  readonly leases: string;
  readonly log: string;
}

/** One process serves one family only (dhcpd(8), -4 and -6). */
export interface DhcpdKind {
  readonly family: 4 | 6;
  readonly paths: DhcpdPaths;
  readonly render: DhcpServer["render"];
}

export interface DhcpdPorts {
  readonly files: Files;
  readonly commands: Commands;
  readonly driver: ServiceDriver;
  readonly clock: Clock;
  readonly log: Log;
}

const READY = "Server starting service.";
const READY_DEADLINE_MS = 90_000;
const READY_POLL_MS = 10;

/** Name of the service, and the address and port that it listens on (RFC 2131 §4.1, RFC 8415 §7.2). */
const FAMILIES = {
  4: { name: "dhcpd", listen: { address: "0.0.0.0", port: 67, protocol: "udp" } },
  6: { name: "dhcpd6", listen: { address: "::", port: 547, protocol: "udp" } },
} as const;

/** ISC dhcpd for one family. It has no reload: it is restarted, which costs some 100 ms and loses no lease. */
export function createDhcpdServer(kind: DhcpdKind, ports: DhcpdPorts): DhcpServer {
  const { paths, render } = kind;
  const { name } = FAMILIES[kind.family];
  return {
    name,
    config: paths.config,
    log: paths.log,
    leases: { path: paths.leases, follow: (followPorts) => followLeases(paths.leases, followPorts) },
    render,
    validate: (text) => validate(kind, ports, text),
    running: async () => (await ports.driver.find(name))?.tag ?? null,
    apply: (what) => restart(kind, ports, what),
    stop: () => ports.driver.stop(name),
  };
}

async function validate({ family, paths }: DhcpdKind, ports: DhcpdPorts, text: string): Promise<Problem | null> {
  const candidate = `${paths.config}.candidate`;
  await ports.files.replace(candidate, text);
  const argv = [paths.program, `-${family}`, "-t", "-q", "-cf", candidate] as const;
  const { status, signal, stderr } = await ports.commands.run(argv, { timeoutMs: 30_000 });
  await ports.files.remove(candidate);
  if (status === 0) return null;
  const message = `dhcpd refuses the file: ${lastWords(stderr) || `exit ${status ?? signal ?? "unknown"}`}`;
  const remedy = "the file that runs is untouched; correct the subnet named there";
  return { code: "dhcpd-check-failed", at: paths.config, message, remedy };
}

async function restart(kind: DhcpdKind, ports: DhcpdPorts, { links, tag }: ApplyRequest): Promise<Problem | null> {
  const { family, paths } = kind;
  const { name, listen } = FAMILIES[family];
  await ensureLeasesFile(paths.leases);
  await ports.driver.stop(name);
  const occupied = await checkPortFree(ports.commands, listen);
  if (occupied !== null) return occupied;
  const offset = await logOffset(paths.log);
  const argv = [paths.program, `-${family}`, "-f", "-d", "--no-pid", "-cf", paths.config, "-lf", paths.leases, ...links] as const;
  const { pid } = await ports.driver.start({ name, argv, logFile: paths.log }, tag);
  const problem = await waitUntilReady(kind, ports, offset);
  if (problem === null) ports.log.info({ pid, links, daemon: name }, "dhcpd serves");
  return problem;
}

async function waitUntilReady({ family, paths }: DhcpdKind, ports: DhcpdPorts, offset: number): Promise<Problem | null> {
  const deadline = ports.clock.monotonic() + READY_DEADLINE_MS;
  const remedy = `see ${paths.log}`;
  while (ports.clock.monotonic() < deadline) {
    if ((await readLogSince(paths.log, offset)).includes(READY)) return null;
    if ((await ports.driver.find(FAMILIES[family].name)) === null) {
      const words = lastWords(await readLogSince(paths.log, offset));
      return { code: "dhcpd-did-not-start", at: paths.config, message: `dhcpd ended at start: ${words}`, remedy };
    }
    await ports.clock.sleep(READY_POLL_MS);
  }
  return { code: "dhcpd-not-ready", at: paths.config, message: `dhcpd did not say '${READY}' in time`, remedy };
}

/** dhcpd refuses to start without the file; an existing one is never touched. */
async function ensureLeasesFile(path: string): Promise<void> {
  try {
    const file = await open(path, "wx", 0o644);
    await file.close();
  } catch (cause) {
    if (errnoOf(cause) !== "EEXIST")
      throw new EnvironmentError("leases-uncreatable", path, `failed to make the leases file ${path}`, { cause });
  }
}
