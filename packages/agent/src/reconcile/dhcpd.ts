import { open } from "node:fs/promises";
import { dirname } from "node:path";
import { stepDaemon, recordFailure, type DaemonFacts, type DaemonHistory, type DaemonStatus, type Problem } from "@berth/core";
import {
  EnvironmentError,
  errnoOf,
  sha256,
  type Clock,
  type Commands,
  type Files,
  type Log,
  type ServiceDriver,
} from "@berth/host";
import { attemptStep, daemonStatus, guardedPass, unstartedStatus } from "./daemon-status.js";
import { boundLog, lastWords, logOffset, readLogSince } from "./daemon-log.js";
import type { EnlistmentLinks } from "./enlistment.js";
import type { DhcpdGoal } from "./dhcpd-goal.js";
import { checkPortFree } from "./port-holder.js";
import { IDLE_MS, type Reconciler } from "./reconciler.js";

export interface DhcpdPaths {
  /** Program name or path. */
  readonly program: string;
  readonly config: string;
  readonly leases: string;
  readonly log: string;
}

export interface DhcpdPorts {
  readonly files: Files;
  readonly commands: Commands;
  readonly driver: ServiceDriver;
  readonly clock: Clock;
  readonly log: Log;
  readonly paths: DhcpdPaths;
  readonly enlistment: EnlistmentLinks;
  /** What dhcpd should run now, from the newest desired state and the interfaces as they are. */
  goal(): DhcpdGoal;
}

const SERVICE = "dhcpd";
const READY = "Server starting service.";
const READY_DEADLINE_MS = 90_000;
const READY_POLL_MS = 10;
const DHCP_SERVER_PORT = 67;

/** A dhcpd that ends this soon after its start did not end by chance. */
const EARLY_DEATH_MS = 10_000;
/** So many early ends in a row are a problem of its own. */
const EARLY_DEATHS_MAX = 3;

/**
 * Keeps dhcpd running what the goal says: validate, replace the file atomically, restart, verify; else the last good file comes back.
 * Each pass starts from the facts (file on disk, mark of the process), so a pass that was cut off anywhere is simply done again.
 */
export function createDhcpdReconciler(ports: DhcpdPorts): Reconciler {
  let history: DaemonHistory = { failure: null, startedAt: null };
  let failure: Problem | null = null;
  /** It was seen to serve, so that finding it gone means that it died. */
  let served = false;
  let status: DaemonStatus = unstartedStatus("dhcpd");

  async function pass(): Promise<number> {
    const now = ports.clock.monotonic();
    const goal = ports.goal();
    await boundLog(ports.paths.log);
    const unreached = goal.kind === "run" ? await attemptStep(() => settleLinks(ports, goal)) : null;
    const facts = await readFacts(ports, goal);
    if (served && facts.running === null && facts.desired !== null) noteDeath(facts.desired, now);
    served = facts.running !== null;
    const step = stepDaemon(facts, history, now);
    if (step.do === "wait" || step.do === "nothing") {
      const isSteady = history.startedAt === null || now - history.startedAt > EARLY_DEATH_MS;
      if (step.do === "nothing" && isSteady) history = { ...history, failure: null };
      if (step.do === "nothing" && (isSteady || failure?.code !== KEEPS_DYING)) failure = null;
      status = daemonStatus({ name: "dhcpd", goal, facts, failure: failure ?? unreached });
      return step.do === "wait" ? step.ms : IDLE_MS;
    }
    if (step.do !== "stop") history = { ...history, startedAt: now };
    const problem = await attemptStep(() => actOn(ports, goal, step.do));
    if (problem !== null) history = recordFailure(history, facts.desired ?? "", ports.clock.monotonic());
    if (problem !== null || failure?.code !== KEEPS_DYING) failure = problem;
    const after = await readFacts(ports, goal);
    served = after.running !== null;
    status = daemonStatus({ name: "dhcpd", goal, facts: after, failure: failure ?? unreached });
    return 0;
  }

  /** One that ends soon after its start, again and again, is started with growing pauses and named. */
  function noteDeath(desired: string, now: number): void {
    if (history.startedAt === null || now - history.startedAt > EARLY_DEATH_MS) return;
    history = recordFailure(history, desired, now);
    const deaths = history.failure?.count ?? 0;
    if (deaths < EARLY_DEATHS_MAX) return;
    const message = `dhcpd ended soon after its start, ${deaths} times in a row; it is started again with growing pauses`;
    failure = { code: KEEPS_DYING, at: ports.paths.config, message, remedy: `see ${ports.paths.log}` };
  }

  const tell = (problem: Problem): void => {
    status = { ...status, state: "failing", problems: [problem] };
  };
  return { pass: () => guardedPass(pass, tell), status: () => status };
}

const KEEPS_DYING = "dhcpd-keeps-dying";

async function settleLinks(ports: DhcpdPorts, goal: DhcpdGoal): Promise<null> {
  await ports.enlistment.ensure(goal.enlistment);
  return null;
}

async function readFacts(ports: DhcpdPorts, goal: DhcpdGoal): Promise<DaemonFacts> {
  const onDisk = await ports.files.read(ports.paths.config);
  const written = onDisk === null ? null : sha256(onDisk);
  const running = runningDigest((await ports.driver.find(SERVICE))?.tag ?? null, goal);
  const desired = goal.kind === "keep" ? (running === null ? null : written) : goal.text === null ? null : sha256(goal.text);
  return { desired, written, running };
}

/** What a process is started with: the digest of its file, and the links it was bound to. */
function tagOf(digest: string, goal: Pick<DhcpdGoal, "linkMark">): string {
  return `${digest} ${goal.linkMark}`;
}

function runningDigest(tag: string | null, goal: DhcpdGoal): string | null {
  if (tag === null) return null;
  const digest = tag.slice(0, tag.indexOf(" "));
  return goal.kind === "keep" || tag === tagOf(digest, goal) ? digest : `elsewhere:${digest.slice(0, 32)}`;
}

async function actOn(ports: DhcpdPorts, goal: DhcpdGoal, step: "stop" | "activate" | "start"): Promise<Problem | null> {
  if (step === "stop") {
    await ports.driver.stop(SERVICE);
    ports.log.info("dhcpd stopped: this rack has nothing to serve");
    return null;
  }
  if (step === "activate" && goal.kind === "run" && goal.text !== null) return activate(ports, goal, goal.text);
  const onDisk = await ports.files.read(ports.paths.config);
  return restart(ports, goal, sha256(onDisk ?? ""));
}

async function activate(ports: DhcpdPorts, goal: DhcpdGoal, text: string): Promise<Problem | null> {
  await ports.files.ensureDirectory(dirname(ports.paths.config));
  const checked = await validate(ports, text);
  if (checked !== null) return checked;
  const previous = await ports.files.read(ports.paths.config);
  await ports.files.replace(ports.paths.config, text);
  const problem = await attemptStep(() => restart(ports, goal, sha256(text)));
  if (problem === null || previous === null) return problem;
  // The last good file comes back, and with it the service, before anything is reported.
  await ports.files.replace(ports.paths.config, previous);
  const again = await attemptStep(() => restart(ports, goal, sha256(previous)));
  if (again === null) return problem;
  return {
    ...problem,
    message: `${problem.message}; the previous file does not start either: ${again.message}`,
  };
}

/** dhcpd's own check, after our review: it finds what only its parser knows. */
async function validate(ports: DhcpdPorts, text: string): Promise<Problem | null> {
  const candidate = `${ports.paths.config}.candidate`;
  await ports.files.replace(candidate, text);
  const { status, signal, stderr } = await ports.commands.run([ports.paths.program, "-t", "-q", "-cf", candidate], {
    timeoutMs: 30_000,
  });
  await ports.files.remove(candidate);
  if (status === 0) return null;
  const message = `dhcpd refuses the file: ${lastWords(stderr) || `exit ${status ?? signal ?? "unknown"}`}`;
  return {
    code: "dhcpd-check-failed",
    at: ports.paths.config,
    message,
    remedy: "the file that runs is untouched; correct the subnet named there",
  };
}

async function restart(ports: DhcpdPorts, goal: DhcpdGoal, digest: string): Promise<Problem | null> {
  const { paths, driver } = ports;
  await ensureLeasesFile(paths.leases);
  await driver.stop(SERVICE);
  const occupied = await checkPortFree(ports.commands, { address: "0.0.0.0", port: DHCP_SERVER_PORT, protocol: "udp" });
  if (occupied !== null) return occupied;
  const offset = await logOffset(paths.log);
  const argv = [paths.program, "-4", "-f", "-d", "--no-pid", "-cf", paths.config, "-lf", paths.leases, ...goal.links] as const;
  const { pid } = await driver.start({ name: SERVICE, argv, logFile: paths.log }, tagOf(digest, goal));
  const problem = await waitUntilReady(ports, offset);
  if (problem === null) ports.log.info({ pid, links: goal.links, digest: digest.slice(0, 12) }, "dhcpd serves");
  return problem;
}

async function waitUntilReady(ports: DhcpdPorts, offset: number): Promise<Problem | null> {
  const deadline = ports.clock.monotonic() + READY_DEADLINE_MS;
  while (ports.clock.monotonic() < deadline) {
    if ((await readLogSince(ports.paths.log, offset)).includes(READY)) return null;
    if ((await ports.driver.find(SERVICE)) === null) {
      const words = lastWords(await readLogSince(ports.paths.log, offset));
      return {
        code: "dhcpd-did-not-start",
        at: ports.paths.config,
        message: `dhcpd ended at start: ${words}`,
        remedy: `see ${ports.paths.log}`,
      };
    }
    await ports.clock.sleep(READY_POLL_MS);
  }
  return {
    code: "dhcpd-not-ready",
    at: ports.paths.config,
    message: `dhcpd did not say '${READY}' in time`,
    remedy: `see ${ports.paths.log}`,
  };
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
