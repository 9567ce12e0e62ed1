import {
  recordFailure,
  stepDaemon,
  type Activation,
  type DaemonFacts,
  type DaemonHistory,
  type DaemonStatus,
  type Problem,
} from "@berth/core";
import type { Clock, Commands, Files, Log, ServiceDriver } from "@berth/host";
import type { ActivationHistory, Attempt } from "./activation-history.js";
import { attemptStep, daemonStatus, guardedPass, unstartedStatus } from "./daemon-status.js";
import { boundLog } from "./daemon-log.js";
import { goalDigest, NAMED_SERVICE, type NamedGoal } from "./named-goal.js";
import { activateNamed, type NamedPaths } from "./named-activation.js";
import { readRunning, readWrittenDigest, type FileDigests, type ServedRecord } from "./named-facts.js";
import { askSerial } from "./soa-serial.js";
import { IDLE_MS, type Reconciler } from "./reconciler.js";

export interface NamedPorts {
  readonly files: Files;
  readonly commands: Commands;
  readonly driver: ServiceDriver;
  readonly clock: Clock;
  readonly log: Log;
  readonly paths: NamedPaths;
  readonly digests: FileDigests;
  readonly served: ServedRecord;
  readonly history: ActivationHistory;
  /** Query ids: 0..65535. */
  queryId(): number;
  goal(): NamedGoal;
}

/** So many looks in a row without an answer, and a named that lives is taken for dead. */
const SILENT_MAX = 5;

/** Keeps named serving what the goal says: files by digest, and the serials that it answers with. */
export function createNamedReconciler(ports: NamedPorts): Reconciler {
  let history: DaemonHistory = { failure: null, startedAt: null };
  let failure: Problem | null = null;
  let silent = 0;
  let status: DaemonStatus = unstartedStatus("named");

  async function pass(): Promise<number> {
    const goal = ports.goal();
    await boundLog(ports.paths.log);
    const facts = await readFacts(ports, goal);
    const step = stepDaemon(facts, history, ports.clock.monotonic());
    if (step.do === "wait") {
      status = daemonStatus({ name: "named", goal, facts, failure });
      return step.ms;
    }
    if (step.do === "nothing") {
      silent = (await answers(ports, goal)) ? 0 : silent + 1;
      if (silent === 0) failure = null;
      status = daemonStatus({ name: "named", goal, facts, failure: silent >= SILENT_MAX ? silentProblem(goal) : failure });
      if (silent >= SILENT_MAX) await ports.driver.stop(NAMED_SERVICE);
      return IDLE_MS;
    }
    if (step.do !== "stop") history = { ...history, startedAt: ports.clock.monotonic() };
    const what = { step: step.do, generation: goal.generation, desired: facts.desired, before: facts.running };
    failure = await ports.history.record(what, () => attemptNamed(ports, goal, step.do));
    silent = 0;
    history =
      failure === null ? { ...history, failure: null } : recordFailure(history, facts.desired ?? "", ports.clock.monotonic());
    status = daemonStatus({ name: "named", goal, facts: await readFacts(ports, goal), failure });
    return 0;
  }

  return {
    pass: () => guardedPass(pass, (problem) => (status = { ...status, state: "failing", problems: [problem] })),
    status: () => status,
    activations: () => ports.history.list(),
  };
}

async function readFacts(ports: NamedPorts, goal: NamedGoal): Promise<DaemonFacts> {
  const running = await readRunning(ports);
  if (goal.kind === "keep") return { desired: running, written: running, running };
  return { desired: goalDigest(goal), written: await readWrittenDigest(ports, goal), running };
}

async function attemptNamed(ports: NamedPorts, goal: NamedGoal, step: Activation["step"]): Promise<Attempt> {
  const problem = await attemptStep(() => actOn(ports, goal, step));
  return { outcome: problem !== null ? "failed" : step === "stop" ? "stopped" : "serves", problem };
}

async function actOn(ports: NamedPorts, goal: NamedGoal, step: Activation["step"]): Promise<Problem | null> {
  // A lost or edited file is put right by the same way: named is told of it.
  if (step !== "stop") return activateNamed(ports, goal);
  await ports.driver.stop(NAMED_SERVICE);
  ports.log.info("named stopped: this rack has no zone to serve");
  return null;
}

/** One zone asked is enough to see that named lives; every zone was asked when it was activated. */
async function answers(ports: NamedPorts, goal: NamedGoal): Promise<boolean> {
  const [zone] = goal.zones;
  const [address] = goal.listen;
  if (goal.kind === "keep" || zone === undefined || address === undefined) return true;
  return (await askSerial({ address, port: ports.paths.port }, zone.origin, ports.queryId())) === zone.serial;
}

function silentProblem(goal: NamedGoal): Problem {
  return {
    code: "named-silent",
    at: goal.listen[0] ?? "named",
    message: "named runs but does not answer for its own zone; it is started again",
  };
}
