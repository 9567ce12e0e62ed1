import { dirname } from "node:path";
import {
  stepDaemon,
  recordFailure,
  type DaemonFacts,
  type DaemonHistory,
  type DaemonStatus,
  type DesiredState,
  type Problem,
} from "@berth/core";
import { sha256, type Clock, type Files, type Log } from "@berth/host";
import type { DhcpServer } from "../dhcp/dhcp-server.js";
import { attemptStep, daemonStatus, guardedPass, unstartedStatus } from "./daemon-status.js";
import { boundLog } from "./daemon-log.js";
import type { EnlistmentLinks } from "./enlistment.js";
import type { Attached, DhcpGoal } from "./dhcp-goal.js";
import { IDLE_MS, type Reconciler } from "./reconciler.js";

export interface DhcpPorts {
  readonly server: DhcpServer;
  readonly files: Files;
  readonly clock: Clock;
  readonly log: Log;
  /** Null for a server of a family that has no enlistment pool. */
  readonly enlistment: EnlistmentLinks | null;
  /** The newest accepted desired state. */
  desired(): DesiredState | null;
  /** Where its subnets are attached now. */
  attached(): Attached | null;
}

/** A server that ends this soon after its start did not end by chance. */
const EARLY_DEATH_MS = 10_000;
/** So many early ends in a row are a problem of its own. */
const EARLY_DEATHS_MAX = 3;

/**
 * Keeps a DHCP server running what the goal says: validate, replace the file atomically, restart, verify; else the last good file comes back.
 * Each pass starts from the facts (file on disk, mark of the process), so a pass that was cut off anywhere is simply done again.
 */
export function createDhcpReconciler(ports: DhcpPorts): Reconciler {
  const { server } = ports;
  const keepsDying = `${server.name}-keeps-dying`;
  let history: DaemonHistory = { failure: null, startedAt: null };
  let failure: Problem | null = null;
  /** It was seen to serve, so that finding it gone means that it died. */
  let served = false;
  let status: DaemonStatus = unstartedStatus(server.name);

  async function pass(): Promise<number> {
    const now = ports.clock.monotonic();
    const goal = server.render(ports.desired(), ports.attached());
    await boundLog(server.log);
    const unreached = goal.kind === "run" ? await attemptStep(() => settleLinks(ports, goal)) : null;
    const facts = await readFacts(ports, goal);
    if (served && facts.running === null && facts.desired !== null) noteDeath(facts.desired, now);
    served = facts.running !== null;
    const step = stepDaemon(facts, history, now);
    if (step.do === "wait" || step.do === "nothing") {
      const isSteady = history.startedAt === null || now - history.startedAt > EARLY_DEATH_MS;
      if (step.do === "nothing" && isSteady) history = { ...history, failure: null };
      if (step.do === "nothing" && (isSteady || failure?.code !== keepsDying)) failure = null;
      status = daemonStatus({ name: server.name, goal, facts, failure: failure ?? unreached });
      return step.do === "wait" ? step.ms : IDLE_MS;
    }
    if (step.do !== "stop") history = { ...history, startedAt: now };
    const problem = await attemptStep(() => actOn(ports, goal, step.do));
    if (problem !== null) history = recordFailure(history, facts.desired ?? "", ports.clock.monotonic());
    if (problem !== null || failure?.code !== keepsDying) failure = problem;
    const after = await readFacts(ports, goal);
    served = after.running !== null;
    status = daemonStatus({ name: server.name, goal, facts: after, failure: failure ?? unreached });
    return 0;
  }

  /** One that ends soon after its start, again and again, is started with growing pauses and named. */
  function noteDeath(desired: string, now: number): void {
    if (history.startedAt === null || now - history.startedAt > EARLY_DEATH_MS) return;
    history = recordFailure(history, desired, now);
    const deaths = history.failure?.count ?? 0;
    if (deaths < EARLY_DEATHS_MAX) return;
    const message = `${server.name} ended soon after its start, ${deaths} times in a row; it is started again with growing pauses`;
    failure = { code: keepsDying, at: server.config, message, remedy: `see ${server.log}` };
  }

  const tell = (problem: Problem): void => {
    status = { ...status, state: "failing", problems: [problem] };
  };
  return { pass: () => guardedPass(pass, tell), status: () => status };
}

async function settleLinks(ports: DhcpPorts, goal: DhcpGoal): Promise<null> {
  await ports.enlistment?.ensure(goal.enlistment);
  return null;
}

async function readFacts({ server, files }: DhcpPorts, goal: DhcpGoal): Promise<DaemonFacts> {
  const onDisk = await files.read(server.config);
  const written = onDisk === null ? null : sha256(onDisk);
  const running = runningDigest(await server.running(), goal);
  const desired = goal.kind === "keep" ? (running === null ? null : written) : goal.text === null ? null : sha256(goal.text);
  return { desired, written, running };
}

/** What a process is started with: the digest of its file, and the links it was bound to. */
function tagOf(digest: string, goal: Pick<DhcpGoal, "linkMark">): string {
  return `${digest} ${goal.linkMark}`;
}

function runningDigest(tag: string | null, goal: DhcpGoal): string | null {
  if (tag === null) return null;
  const digest = tag.slice(0, tag.indexOf(" "));
  return goal.kind === "keep" || tag === tagOf(digest, goal) ? digest : `elsewhere:${digest.slice(0, 32)}`;
}

async function actOn(ports: DhcpPorts, goal: DhcpGoal, step: "stop" | "activate" | "start"): Promise<Problem | null> {
  const { server, files, log } = ports;
  if (step === "stop") {
    await server.stop();
    log.info(`${server.name} stopped: this rack has nothing to serve`);
    return null;
  }
  if (step === "activate" && goal.kind === "run" && goal.text !== null) return activate(ports, goal, goal.text);
  const onDisk = await files.read(server.config);
  return apply(ports, goal, sha256(onDisk ?? ""));
}

async function activate(ports: DhcpPorts, goal: DhcpGoal, text: string): Promise<Problem | null> {
  const { server, files } = ports;
  await files.ensureDirectory(dirname(server.config));
  const checked = await server.validate(text);
  if (checked !== null) return checked;
  const previous = await files.read(server.config);
  await files.replace(server.config, text);
  const problem = await attemptStep(() => apply(ports, goal, sha256(text)));
  if (problem === null || previous === null) return problem;
  // The last good file comes back, and with it the service, before anything is reported.
  await files.replace(server.config, previous);
  const again = await attemptStep(() => apply(ports, goal, sha256(previous)));
  if (again === null) return problem;
  return { ...problem, message: `${problem.message}; the previous file does not start either: ${again.message}` };
}

function apply(ports: DhcpPorts, goal: DhcpGoal, digest: string): Promise<Problem | null> {
  return ports.server.apply({ links: goal.links, tag: tagOf(digest, goal) });
}
