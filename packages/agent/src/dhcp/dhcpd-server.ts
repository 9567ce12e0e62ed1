import { DHCPD_HEADER, type ProbeTarget, type Problem } from "@berth/core";
import type { Clock, Commands, Files, Log, ServiceDriver, ServiceInstance } from "@berth/host";
import { followLeases } from "../observe/leases/follow-leases.js";
import { failureProblem } from "../reconcile/daemon-status.js";
import { lastWords, logOffset, readLogSince } from "../reconcile/daemon-log.js";
import { checkPortFree } from "../reconcile/port-holder.js";
import { checkPlain, checkRoom, dropHistory, ensureLeasesFile } from "./dhcpd-leases-file.js";
import { findLostLeases } from "./lost-leases.js";
import { askDhcp4, askDhcp6, heardQuestion } from "./ask-dhcp.js";
import { createDhcpdCheck } from "./dhcpd-check.js";
import type { ApplyRequest, DhcpServer, ServerAnswer } from "./dhcp-server.js";

export interface DhcpdPaths {
  /** Program name or path. */
  readonly program: string;
  readonly config: string;
  readonly leases: string;
  readonly log: string;
}

/** ISC dhcpd: one process serves one family only (dhcpd(8), -4 and -6). */
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
  /** 32 random bits. */
  transactionId(): number;
}

const READY = "Server starting service.";
const READY_DEADLINE_MS = 90_000;
/** It serves after some 50 ms, with many hosts or leases later: looked at seldom, the longer it takes. */
const READY_POLL_MS = { first: 2, growth: 1.1, most: 50 } as const;
const PORT_GRACE_MS = 1_000;
const PORT_POLL_MS = 50;
/** A dhcpd that lives answers within a few milliseconds. */
const ANSWER_MS = 1_000;

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
    header: DHCPD_HEADER,
    validate: createDhcpdCheck(kind, ports),
    running: async () => (await ports.driver.find(name))?.tag ?? null,
    apply: (what) => restart(kind, ports, what),
    ask: (targets) => askAll(kind, ports, targets),
    stop: () => ports.driver.stop(name),
  };
}

/** On every link at once. Its log counts as an answer too: there it says that it took the question, also where it may not answer it. */
async function askAll({ family, paths }: DhcpdKind, ports: DhcpdPorts, targets: readonly ProbeTarget[]): Promise<ServerAnswer> {
  const ask = family === 4 ? askDhcp4 : askDhcp6;
  const offset = await logOffset(paths.log);
  try {
    const answers = await Promise.all(
      targets.map((target) => ask(target, { transactionId: ports.transactionId(), waitMs: ANSWER_MS })),
    );
    const unheard = targets.filter((_, n) => answers[n] === false);
    if (unheard.length === 0) return { kind: "answers" };
    const log = await readLogSince(paths.log, offset);
    const silent = unheard.filter((target) => family === 6 || !heardQuestion(log, target));
    return silent.length === 0 ? { kind: "answers" } : { kind: "silent", links: silent.map(({ link }) => link) };
  } catch (error) {
    return { kind: "unasked", problem: failureProblem(error) };
  }
}

async function restart(kind: DhcpdKind, ports: DhcpdPorts, { links, tag }: ApplyRequest): Promise<Problem | null> {
  const { family, paths } = kind;
  const { name, listen } = FAMILIES[family];
  const hindered = await makeWay(paths.leases, await ports.driver.find(name), { ports, name });
  if (hindered !== null) return hindered;
  const occupied = await checkPortSoonFree(ports, listen);
  if (occupied !== null) return occupied;
  if (family === 4) await dropHistory(paths.leases, ports);
  const offset = await logOffset(paths.log);
  const argv = [paths.program, `-${family}`, "-f", "-d", "--no-pid", "-cf", paths.config, "-lf", paths.leases, ...links] as const;
  const { pid } = await ports.driver.start({ name, argv, logFile: paths.log }, tag);
  const problem = await waitUntilReady(kind, ports, offset);
  if (problem === null) ports.log.info({ pid, links, daemon: name }, "dhcpd serves");
  return problem;
}

/** Ends the one that runs, unless another could not be started: it serves better than none. */
async function makeWay(
  leases: string,
  running: ServiceInstance | null,
  { ports, name }: { readonly ports: DhcpdPorts; readonly name: string },
): Promise<Problem | null> {
  const lost = running === null ? null : await findLostLeases(running.pid, leases, ports);
  try {
    await lost?.putBack();
    await ensureLeasesFile(leases);
    const hindered = (await checkPlain(leases)) ?? (running === null ? null : await checkRoom(leases));
    if (hindered !== null) return hindered;
    await ports.driver.stop(name);
    await lost?.putBack();
    return null;
  } finally {
    await lost?.close();
  }
}

/** A dhcpd that an agent before us told to end, and that is no longer to be recognized, may hold its port for a moment yet. */
async function checkPortSoonFree(
  { commands, clock }: DhcpdPorts,
  listen: Parameters<typeof checkPortFree>[1],
): Promise<Problem | null> {
  const deadline = clock.monotonic() + PORT_GRACE_MS;
  for (;;) {
    const occupied = await checkPortFree(commands, listen);
    if (occupied === null || clock.monotonic() >= deadline) return occupied;
    await clock.sleep(PORT_POLL_MS);
  }
}

async function waitUntilReady({ family, paths }: DhcpdKind, ports: DhcpdPorts, offset: number): Promise<Problem | null> {
  const deadline = ports.clock.monotonic() + READY_DEADLINE_MS;
  const remedy = `see ${paths.log}`;
  let pauseMs: number = READY_POLL_MS.first;
  while (ports.clock.monotonic() < deadline) {
    if ((await readLogSince(paths.log, offset)).includes(READY)) return null;
    if ((await ports.driver.find(FAMILIES[family].name)) === null) {
      const words = lastWords(await readLogSince(paths.log, offset)) || "it did not say why";
      return { code: "dhcpd-did-not-start", at: paths.config, message: `dhcpd ended at start: ${words}`, remedy };
    }
    await ports.clock.sleep(pauseMs);
    pauseMs = Math.min(READY_POLL_MS.most, pauseMs * READY_POLL_MS.growth);
  }
  return { code: "dhcpd-not-ready", at: paths.config, message: `dhcpd did not say '${READY}' in time`, remedy };
}
