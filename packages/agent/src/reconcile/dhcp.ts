import {
  isHung,
  nextQuestionMs,
  NOT_ASKED,
  noteAnswer,
  recordFailure,
  retryPause,
  stepDaemon,
  type Activation,
  type DaemonFacts,
  type DaemonHistory,
  type DaemonStatus,
  type DesiredState,
  type Problem,
} from "@berth/core";
import { sha256, type Clock, type Files, type Log } from "@berth/host";
import type { DhcpServer } from "../dhcp/dhcp-server.js";
import type { ActivationHistory, Attempt } from "./activation-history.js";
import { attemptStep, daemonStatus, guardedPass, unstartedStatus } from "./daemon-status.js";
import { boundLog } from "./daemon-log.js";
import { activate, bringUp, rewrite, silentProblem, tagOf, type Content } from "./dhcp-activation.js";
import type { Attached, DhcpGoal } from "./dhcp-goal.js";
import type { EnlistmentLinks } from "./enlistment.js";
import type { ManagedConfig } from "./managed-config.js";
import { rememberLast } from "../remember-last.js";
import { IDLE_MS, type Reconciler } from "./reconciler.js";

export interface DhcpPorts {
  readonly server: DhcpServer;
  readonly file: ManagedConfig;
  readonly history: ActivationHistory;
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
 * Keeps a DHCP server running what the goal says: check, replace the file atomically, restart, ask whether it answers; else what served last comes
 * back. Each pass starts from the facts (file on disk, mark of the process), so a pass that was cut off anywhere is simply done again.
 */
export function createDhcpReconciler(ports: DhcpPorts): Reconciler {
  return new DhcpReconciler(ports);
}

/** All that one pass looked at. */
interface Seen {
  readonly goal: DhcpGoal;
  /** The goal's content; null when nothing is to run, or nothing can be decided. */
  readonly content: Content | null;
  /** `desired` is what is acted on: while the file is left to somebody else, whatever runs. */
  readonly facts: DaemonFacts;
  readonly left: Problem | null;
  /** The enlistment addresses are not as they should be. */
  readonly unreached: Problem | null;
}

class DhcpReconciler implements Reconciler {
  readonly #ports: DhcpPorts;
  readonly #keepsDying: string;
  readonly #render: () => Pick<Seen, "goal" | "content">;
  #history: DaemonHistory = { failure: null, startedAt: null };
  #failure: Problem | null = null;
  /** Not a failure: it could not be found out whether the server answers. */
  #notice: Problem | null = null;
  #liveness = NOT_ASKED;
  /** It was seen to run, so that finding it gone means that it died. */
  #ran = false;
  #status: DaemonStatus;

  constructor(ports: DhcpPorts) {
    this.#ports = ports;
    this.#keepsDying = `${ports.server.name}-keeps-dying`;
    const content = rememberLast((text: DhcpGoal["text"], _: null): Content | null =>
      text === null ? null : { text, digest: sha256(text) },
    );
    this.#render = () => {
      const goal = ports.server.render(ports.desired(), ports.attached());
      return { goal, content: content(goal.text, null) };
    };
    this.#status = unstartedStatus(ports.server.name);
  }

  status(): DaemonStatus {
    return this.#status;
  }

  activations(): readonly Activation[] {
    return this.#ports.history.list();
  }

  pass(): Promise<number> {
    return guardedPass(
      () => this.#pass(),
      (problem) => {
        this.#status = { ...this.#status, state: "failing", problems: [problem] };
      },
    );
  }

  async #pass(): Promise<number> {
    const now = this.#ports.clock.monotonic();
    const seen = await this.#look();
    const { facts } = seen;
    if (this.#ran && facts.running === null && facts.desired !== null) this.#noteDeath(facts.desired, now);
    this.#ran = facts.running !== null;
    const step = stepDaemon(facts, this.#history, now);
    if (step.do === "wait") {
      this.#tell(seen);
      return step.ms;
    }
    if (step.do === "nothing") return this.#idle(seen, now);
    await this.#act(seen, step.do);
    return 0;
  }

  async #look(): Promise<Seen> {
    const { server, file, enlistment } = this.#ports;
    const { goal, content } = this.#render();
    await boundLog(server.log);
    const unreached =
      goal.kind === "run" && enlistment !== null
        ? await attemptStep(async () => (await enlistment.ensure(goal.enlistment), null))
        : null;
    const { written: found, left } = await file.look(content?.digest ?? null);
    const running = runningDigest(await server.running(), goal);
    // While nothing can be decided, a file that is gone is no reason to end what still serves.
    const written = goal.kind === "keep" ? (found ?? running) : found;
    const wanted = goal.kind === "keep" ? (running === null ? null : written) : (content?.digest ?? null);
    const desired = left !== null && wanted !== null ? (running ?? written) : wanted;
    return { goal, content, left, unreached, facts: { desired, written: left === null ? written : desired, running } };
  }

  /** Everything is as it should be, as far as that can be seen without asking. */
  async #idle(seen: Seen, now: number): Promise<number> {
    const pause = retryPause(seen.facts.desired ?? "", this.#history.failure, now);
    if (isHung(this.#liveness) && pause === 0) {
      await this.#act(seen, "revive");
      return 0;
    }
    const isSteady = this.#history.startedAt === null || now - this.#history.startedAt > EARLY_DEATH_MS;
    // One that is not to run has nothing to be asked; its next question, never put off, would make this a loop without a pause.
    const goal = seen.goal.kind === "run" && seen.facts.running !== null ? seen.goal : null;
    if (goal !== null && nextQuestionMs(this.#liveness, now) === 0) await this.#ask(goal);
    const isHeard = this.#liveness.silent === 0;
    if (isSteady && isHeard) this.#history = { ...this.#history, failure: null };
    if (isHeard && (isSteady || this.#failure?.code !== this.#keepsDying)) this.#failure = null;
    // What was found out is told before it is acted on, so that a short trouble is seen too.
    this.#tell(seen);
    if (goal === null) return IDLE_MS;
    return isHung(this.#liveness)
      ? Math.min(IDLE_MS, pause)
      : Math.min(IDLE_MS, nextQuestionMs(this.#liveness, this.#ports.clock.monotonic()));
  }

  async #ask(goal: DhcpGoal): Promise<void> {
    const { server, file, clock } = this.#ports;
    const answer = await server.ask(goal.probes);
    const isSilent = answer.kind === "silent" && file.wasHeard();
    this.#liveness = noteAnswer(this.#liveness, !isSilent, clock.monotonic());
    this.#notice = answer.kind === "unasked" ? answer.problem : null;
    if (answer.kind === "answers" && goal.probes.length > 0) await file.noteHeard();
    if (answer.kind === "silent" && isHung(this.#liveness)) this.#failure = silentProblem(server, answer.links);
  }

  async #act(seen: Seen, step: Activation["step"]): Promise<void> {
    const { history, clock } = this.#ports;
    const { facts, goal } = seen;
    if (step !== "stop" && step !== "rewrite") this.#history = { ...this.#history, startedAt: clock.monotonic() };
    const what = { step, generation: goal.generation, desired: facts.desired, before: facts.running };
    const problem = await history.record(what, () => this.#attempt(seen, step));
    if (problem !== null) this.#history = recordFailure(this.#history, facts.desired ?? "", clock.monotonic());
    if (problem !== null || this.#failure?.code !== this.#keepsDying) this.#failure = problem;
    this.#liveness = NOT_ASKED;
    const after = await this.#look();
    this.#ran = after.facts.running !== null;
    this.#tell(after);
  }

  async #attempt({ goal, content, facts, left }: Seen, step: Activation["step"]): Promise<Attempt> {
    const { server, log } = this.#ports;
    if (step === "stop") {
      const problem = await attemptStep(async () => (await server.stop(), null));
      if (problem === null) log.info(`${server.name} stopped: this rack has nothing to serve`);
      return { outcome: problem === null ? "stopped" : "failed", problem };
    }
    if (step === "rewrite" && content !== null) return rewrite(this.#ports, content);
    if (step === "activate" && content !== null) return activate(this.#ports, goal, content);
    return bringUp(this.#ports, goal, { digest: facts.written ?? "", mayRollBack: left === null });
  }

  /** One that ends soon after its start, again and again, is started with growing pauses and named. */
  #noteDeath(desired: string, now: number): void {
    const { server } = this.#ports;
    if (this.#history.startedAt === null || now - this.#history.startedAt > EARLY_DEATH_MS) return;
    this.#history = recordFailure(this.#history, desired, now);
    const deaths = this.#history.failure?.count ?? 0;
    if (deaths < EARLY_DEATHS_MAX) return;
    const message = `${server.name} ended soon after its start, ${deaths} times in a row; it is started again with growing pauses`;
    this.#failure = { code: this.#keepsDying, at: server.config, message, remedy: `see ${server.log}` };
  }

  #tell({ goal, content, facts, left, unreached }: Seen): void {
    const notices = this.#notice === null || goal.kind === "keep" ? [] : [this.#notice];
    const shown = left === null || content === null ? facts : { ...facts, desired: content.digest };
    this.#status = daemonStatus({
      name: this.#ports.server.name,
      goal: { ...goal, problems: [...goal.problems, ...notices] },
      facts: shown,
      failure: this.#failure ?? left ?? unreached,
    });
  }
}

function runningDigest(tag: string | null, goal: DhcpGoal): string | null {
  if (tag === null) return null;
  const digest = tag.slice(0, tag.indexOf(" "));
  return goal.kind === "keep" || tag === tagOf(digest, goal) ? digest : `elsewhere:${digest.slice(0, 32)}`;
}
