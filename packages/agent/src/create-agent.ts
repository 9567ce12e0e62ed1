import { randomInt, randomUUID } from "node:crypto";
import { BERTH_VERSION, checkClock, findRackLinks, type DesiredState, type Problem } from "@berth/core";
import {
  claimExclusively,
  createBell,
  createSupervisedDriver,
  EnvironmentError,
  type Bell,
  type Clock,
  type Commands,
  type Files,
  type Log,
} from "@berth/host";
import { agentPaths, type AgentPaths } from "./agent-paths.js";
import type { AgentConfig } from "./config.js";
import { openDesiredKeeper, type DesiredKeeper } from "./desired/desired-keeper.js";
import { loadIdentity, saveIdentity, type Identity } from "./identity/identity.js";
import { createLink, type Link } from "./link/link.js";
import type { ConfiguredAddresses } from "./observe/host/host-knowledge.js";
import { runHostReporter } from "./observe/host/host-reporter.js";
import { createSettledInterfaces, type SettledInterfaces } from "./observe/host/settled-interfaces.js";
import { systemFollowPrograms } from "./observe/interfaces/follow-program.js";
import { createInterfaceObserver, type InterfaceObserver, type ScanState } from "./observe/interfaces/interface-observer.js";
import { followLeases } from "./observe/leases/follow-leases.js";
import type { LeaseFollower } from "./observe/leases/model.js";
import { askTime } from "./observe/ntp/ask-time.js";
import { createTimeWatch, type TimeWatch } from "./observe/ntp/time-watch.js";
import { createDhcpdReconciler } from "./reconcile/dhcpd.js";
import { dhcpdGoal, type Attached } from "./reconcile/dhcpd-goal.js";
import { createEnlistmentLinks, type EnlistmentAddress } from "./reconcile/enlistment.js";
import { createNamedReconciler } from "./reconcile/named.js";
import { createFileDigests } from "./reconcile/named-facts.js";
import { namedGoal } from "./reconcile/named-goal.js";
import { ensureRndcKey } from "./reconcile/rndc-key.js";
import { runReconciler, type Reconciler } from "./reconcile/reconciler.js";
import type { AgentStatus } from "./status/agent-status.js";
import { serveStatus } from "./status/status-socket.js";

export interface AgentPorts {
  readonly files: Files;
  readonly commands: Commands;
  readonly clock: Clock;
  readonly log: Log;
  readonly pid: number;
  readonly hostname: string;
}

export interface Agent {
  /** Watches, links and keeps both daemons right until aborted. The daemons go on: a rack serves while its agent is exchanged. */
  run(signal: AbortSignal): Promise<void>;
  status(): AgentStatus;
}

/** Puts an agent together and starts nothing. Throws `not-joined`, `already-running`, and what is wrong with the state folder. */
export async function createAgent(config: AgentConfig, ports: AgentPorts): Promise<Agent> {
  const paths = agentPaths(config);
  for (const folder of paths.folders) await ports.files.ensureDirectory(folder);
  await claimExclusively(paths.state, "agent");
  const identity = await requireIdentity(paths, ports.files);
  const bells = { dhcpd: createBell(ports.clock), named: createBell(ports.clock) };
  const ringAll = (): void => Object.values(bells).forEach((bell) => bell.ring());
  const keeper = await openDesiredKeeper({ files: ports.files, stateDir: paths.state, rack: identity.rack, onAccepted: ringAll });
  const observer = createInterfaceObserver({ ...ports, programs: systemFollowPrograms });
  const follower = followLeases(paths.dhcpd.leases, ports);
  const link = createAgentLink({ config, paths, identity, keeper, follower, ports });
  const settled = createSettledInterfaces({
    clock: ports.clock,
    seen: () => observer.current(),
    subnets: () => keeper.current()?.subnets ?? [],
  });
  const attach = createAttachment(config, { keeper, settled });
  const parts = { paths, addresses: config.addresses, identity, bells, keeper, observer, settled, follower, link, attach, ports };
  const reconcilers = await createReconcilers(parts);
  return new RunningAgent({ ...parts, reconcilers });
}

async function requireIdentity(paths: AgentPaths, files: Files): Promise<Identity> {
  const identity = await loadIdentity(paths.state, files);
  if (identity !== null) return identity;
  const remedy = "run `berth token create` on the region and the line it prints here";
  throw new EnvironmentError("not-joined", paths.state, "this rack has not joined a region", { remedy });
}

interface Attachment {
  desired(): DesiredState | null;
  /** Null while no interfaces were read. */
  now(): Attached | null;
}

/** Where the desired subnets are attached now; computed once for each pair of desired state and interfaces. */
function createAttachment(config: AgentConfig, from: { keeper: DesiredKeeper; settled: SettledInterfaces }): Attachment {
  const { keeper, settled } = from;
  const knowledge = { real: new Set(config.addresses.real), vips: new Set(config.addresses.vips) };
  let known: { readonly desired: unknown; readonly attached: Attached } | null = null;
  return {
    desired: () => keeper.current(),
    now() {
      const desired = keeper.current();
      const interfaces = settled.current();
      if (desired === null || interfaces === null) return null;
      if (known?.desired !== desired || known.attached.interfaces !== interfaces) {
        const local = findRackLinks(desired.subnets, interfaces, { ...knowledge, ledgerVips: new Set(desired.vips) });
        known = { desired, attached: { local, interfaces } };
      }
      return known.attached;
    },
  };
}

function createAgentLink(from: {
  config: AgentConfig;
  paths: AgentPaths;
  identity: Identity;
  keeper: DesiredKeeper;
  follower: LeaseFollower;
  ports: AgentPorts;
}): Link {
  const { config, paths, identity, keeper, follower, ports } = from;
  return createLink({
    identity,
    regions: config.regions,
    clock: ports.clock,
    random: Math.random,
    log: ports.log,
    hostname: ports.hostname,
    version: BERTH_VERSION,
    stream: randomUUID(),
    generation: () => keeper.current()?.generation ?? 0,
    onDesired: (state) => keeper.offer(state),
    leases: () => (follower.health().identity === null ? null : follower.snapshot()),
    saveIdentity: (renewed) => saveIdentity(paths.state, ports.files, renewed),
  });
}

interface AgentParts {
  readonly paths: AgentPaths;
  /** What the configuration says of this host's addresses. */
  readonly addresses: ConfiguredAddresses;
  readonly identity: Identity;
  readonly bells: { readonly dhcpd: Bell; readonly named: Bell };
  readonly keeper: DesiredKeeper;
  readonly observer: InterfaceObserver;
  readonly settled: SettledInterfaces;
  readonly follower: LeaseFollower;
  readonly link: Link;
  readonly attach: Attachment;
  readonly ports: AgentPorts;
}

async function createReconcilers(parts: AgentParts): Promise<{ dhcpd: Reconciler; named: Reconciler }> {
  const { paths, observer, attach, ports } = parts;
  const { files, commands, clock, log } = ports;
  const driver = createSupervisedDriver(paths.state, clock);
  const isPresent = ({ link, address, prefixLength }: EnlistmentAddress): boolean =>
    observer
      .current()
      ?.find(({ name }) => name === link)
      ?.addresses.some((there) => there.address === address && there.prefixLength === prefixLength) ?? false;
  const enlistment = createEnlistmentLinks({ files, commands, log, stateDir: paths.state, isPresent });
  await ensureRndcKey(files, paths.named.key);
  const { port, controlPort } = paths.named;
  const namedOptions = { paths: paths.namedConf, port, controlPort };
  const shared = { files, commands, driver, clock, log };
  return {
    dhcpd: createDhcpdReconciler({
      ...shared,
      paths: paths.dhcpd,
      enlistment,
      goal: () => dhcpdGoal(attach.desired(), attach.now()),
    }),
    named: createNamedReconciler({
      ...shared,
      paths: paths.named,
      digests: createFileDigests(files),
      served: { last: null },
      queryId: () => randomInt(65_536),
      goal: () => namedGoal(attach.desired(), attach.now()?.local ?? null, namedOptions),
    }),
  };
}

class RunningAgent implements Agent {
  readonly #parts: AgentParts & { readonly reconcilers: { readonly dhcpd: Reconciler; readonly named: Reconciler } };
  readonly #time: TimeWatch;
  readonly #failing = new Map<string, string>();
  #reported = "";

  constructor(parts: AgentParts & { readonly reconcilers: { readonly dhcpd: Reconciler; readonly named: Reconciler } }) {
    this.#parts = parts;
    this.#time = createTimeWatch({
      clock: parts.ports.clock,
      addresses: () => parts.attach.now()?.local.links.map(({ address }) => address) ?? [],
      ask: (address) => askTime(address),
      onChange: () => this.#report(),
    });
  }

  status(): AgentStatus {
    const { identity, link, keeper, follower, observer, reconcilers, ports } = this.#parts;
    const interfaces = observer.current();
    const skew = checkClock("this host", "clock", link.status().clockAheadMs);
    return {
      rack: identity.rack,
      name: identity.name,
      version: BERTH_VERSION,
      pid: ports.pid,
      link: link.status(),
      accepted: keeper.current()?.generation ?? 0,
      daemons: [reconcilers.dhcpd.status(), reconcilers.named.status()],
      leases: follower.health(),
      interfaces: { read: interfaces !== null, count: interfaces?.length ?? 0 },
      problems: [...this.#problems(), ...(skew === null ? [] : [skew])], // the region measures it itself
    };
  }

  async run(signal: AbortSignal): Promise<void> {
    const { paths, addresses, bells, observer, settled, follower, link, reconcilers, ports } = this.#parts;
    const { clock, log } = ports;
    const failed = new AbortController();
    const either = AbortSignal.any([signal, failed.signal]);
    const server = await serveStatus(paths.socket, () => this.status());
    observer.onChange(() => {
      bells.dhcpd.ring();
      bells.named.ring();
    });
    follower.onChange((change) => (change.reset ? link.renewLeases() : link.changeLeases(change)));
    const onPass = (): void => this.#report();
    log.info({ rack: this.#parts.identity.name, state: paths.state }, "agent runs");
    const parts = [
      observer.run(either),
      runHostReporter({ addresses, observer, settled, follower, clock, log, report: (host) => link.reportHost(host) }, either),
      this.#time.run(either),
      follower.run(either),
      link.run(either),
      runReconciler(reconcilers.dhcpd, { bell: bells.dhcpd, clock, onPass }, either),
      runReconciler(reconcilers.named, { bell: bells.named, clock, onPass }, either),
    ];
    // One part that fails ends all: the supervisor starts the agent anew, and the daemons serve meanwhile.
    const outcomes = await Promise.allSettled(parts.map((part) => part.catch((error: unknown) => fail(failed, error))));
    server.close();
    const failure = outcomes.find((outcome) => outcome.status === "rejected");
    if (failure !== undefined) throw failure.reason;
    log.info("agent ends; dhcpd and named go on");
  }

  /** Tells the region what is written and running, when that differs from what was last told. */
  #report(): void {
    const { link, keeper, reconcilers } = this.#parts;
    const daemons = [reconcilers.dhcpd.status(), reconcilers.named.status()];
    const status = {
      accepted: keeper.current()?.generation ?? 0,
      daemons,
      problems: [...this.#problems()],
      ntp: this.#time.answers(),
    };
    const text = JSON.stringify(status);
    if (text === this.#reported) return;
    for (const { name, state, problems } of daemons) this.#logFailure(name, state === "failing" ? problems : []);
    this.#reported = text;
    link.reportStatus(status);
  }

  /** A daemon that fails is told once for each reason, and so is its end. */
  #logFailure(name: string, problems: readonly Problem[]): void {
    const text = JSON.stringify(problems);
    if (text === (this.#failing.get(name) ?? "[]")) return;
    this.#failing.set(name, text);
    if (problems.length > 0) this.#parts.ports.log.error({ daemon: name, problems }, "daemon is not as it should be");
    else this.#parts.ports.log.info({ daemon: name }, "daemon is as it should be again");
  }

  #problems(): readonly Problem[] {
    const { keeper, follower, observer } = this.#parts;
    const damaged = keeper.problem();
    return [...(damaged === null ? [] : [damaged]), ...follower.health().problems, ...scanProblems(observer.state())];
  }
}

function scanProblems(state: ScanState): Problem[] {
  if (state.kind !== "failing") return [];
  return [{ code: state.code, at: "interfaces", message: `${state.message}; what the last good look saw stays in force` }];
}

function fail(failed: AbortController, error: unknown): never {
  failed.abort(error);
  throw error;
}
