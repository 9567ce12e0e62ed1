import { randomInt, randomUUID } from "node:crypto";
import { BERTH_VERSION, checkClock, checkObserved, DesiredDigests, type Problem } from "@berth/core";
import { claimExclusively, EnvironmentError, sha256, type Clock, type Commands, type Files, type Log } from "@berth/host";
import { agentPaths, type AgentPaths } from "./agent-paths.js";
import { createAttachment, type Attachment } from "./attachment.js";
import type { AgentConfig } from "./config.js";
import { createWire, type Wire } from "./create-wire.js";
import { provokeResolution } from "./observe/wire/provoke.js";
import { createWireProber } from "./observe/wire/wire-prober.js";
import { createRetirement, type Retirement } from "./decommission/create-retirement.js";
import { runLeaseRetirer } from "./decommission/lease-retirer.js";
import { createDriver } from "./create-driver.js";
import { createDaemons, createDhcpServers, type Daemon } from "./create-daemons.js";
import type { DhcpServer } from "./dhcp/dhcp-server.js";
import { openDesiredKeeper, type DesiredKeeper } from "./desired/desired-keeper.js";
import { loadIdentity, saveIdentity, type Identity } from "./identity/identity.js";
import { createLink, type Link } from "./link/link.js";
import { runHostReporter } from "./observe/host/host-reporter.js";
import { createSettledInterfaces, type SettledInterfaces } from "./observe/host/settled-interfaces.js";
import { systemFollowPrograms } from "./observe/interfaces/follow-program.js";
import { createInterfaceObserver, type InterfaceObserver, type ScanState } from "./observe/interfaces/interface-observer.js";
import { joinedLeases, leasesProblems, type ReportedLeases } from "./observe/leases/joined-leases.js";
import { createLogReader } from "./observe/pools/log-reader.js";
import { createPoolWatch, type PoolWatch } from "./observe/pools/pool-watch.js";
import { askTime } from "./observe/ntp/ask-time.js";
import { createTimeWatch, type TimeWatch } from "./observe/ntp/time-watch.js";
import { runReconciler } from "./reconcile/reconciler.js";
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
  let daemons: readonly Daemon[] = [];
  let retirement: Retirement | null = null;
  const ringAll = (): void => [...daemons, ...(retirement === null ? [] : [retirement])].forEach(({ bell }) => bell.ring());
  const digests = new DesiredDigests(sha256);
  const keeper = await openDesiredKeeper({ ...ports, digests, stateDir: paths.state, rack: identity.rack, onAccepted: ringAll });
  const observer = createInterfaceObserver({ ...ports, programs: systemFollowPrograms });
  const driver = createDriver(config, paths, ports);
  const servers = createDhcpServers(paths, { ...ports, driver, transactionId: () => randomInt(2 ** 32) });
  const wireOf = (): Wire => wire;
  const leasesOf = (server: DhcpServer): ReportedLeases => ({
    follower: server.leases.follow(ports),
    isServed: () => server.render(attach.desired(), attach.now()).text !== null,
  });
  const [firstServer, ...otherServers] = servers;
  const leases = [leasesOf(firstServer), ...otherServers.map(leasesOf)] as const;
  const link = createAgentLink({ config, paths, identity, keeper, digests, leases, wireOf, ports });
  const settled = createSettledInterfaces({
    clock: ports.clock,
    seen: () => observer.current(),
    subnets: () => keeper.current()?.subnets ?? [],
  });
  const attach = createAttachment(config, { keeper, settled });
  const prober = createWireProber({ ...ports, neighbors: (signal) => observer.neighbors(signal), provoke: provokeResolution });
  const wire = createWire(config, { attach, observer, prober, ports, report: (answers) => link.reportWire(answers) });
  const pools = createPoolWatch({
    ...ports,
    attach,
    leases: leases.map(({ follower }) => follower),
    dhcpdLog: createLogReader(paths.dhcpd.log),
    periodMs: config.dhcpd.pool_check_seconds * 1000,
  });
  if (config.mode === "manage") {
    retirement = await createRetirement({ paths, attach, prober, ports });
    daemons = await createDaemons({ paths, observer, attach, servers, driver, ports });
  }
  const watched = { keeper, observer, settled, leases, link, attach, wire, pools };
  return new RunningAgent({ config, paths, identity, daemons, retirement, ...watched, ports });
}

async function requireIdentity(paths: AgentPaths, files: Files): Promise<Identity> {
  const identity = await loadIdentity(paths.state, files);
  if (identity !== null) return identity;
  const remedy = "run `berth token create` on the region and the line it prints here";
  throw new EnvironmentError("not-joined", paths.state, "this rack has not joined a region", { remedy });
}

function createAgentLink(from: {
  config: AgentConfig;
  paths: AgentPaths;
  identity: Identity;
  keeper: DesiredKeeper;
  digests: DesiredDigests;
  leases: readonly ReportedLeases[];
  wireOf: () => Wire;
  ports: AgentPorts;
}): Link {
  const { config, paths, identity, keeper, digests, leases, wireOf, ports } = from;
  return createLink({
    identity,
    regions: config.regions,
    clock: ports.clock,
    random: Math.random,
    log: ports.log,
    hostname: ports.hostname,
    version: BERTH_VERSION,
    stream: randomUUID(),
    held: () => keeper.current(),
    digests,
    onDesired: (state) => keeper.offer(state),
    leases: () => joinedLeases(leases),
    saveIdentity: (renewed) => saveIdentity(paths.state, ports.files, renewed),
    wire: () => wireOf().answers(),
    onProbe: (addresses) => wireOf().want(addresses),
  });
}

interface AgentParts {
  readonly config: AgentConfig;
  readonly paths: AgentPaths;
  readonly identity: Identity;
  readonly daemons: readonly Daemon[];
  readonly retirement: Retirement | null;
  readonly keeper: DesiredKeeper;
  readonly observer: InterfaceObserver;
  readonly settled: SettledInterfaces;
  /** In the order of the servers. */
  readonly leases: readonly [ReportedLeases, ...ReportedLeases[]];
  readonly link: Link;
  readonly attach: Attachment;
  readonly wire: Wire;
  readonly pools: PoolWatch;
  readonly ports: AgentPorts;
}

class RunningAgent implements Agent {
  readonly #parts: AgentParts;
  readonly #time: TimeWatch;
  readonly #failing = new Map<string, string>();
  #reported = "";

  constructor(parts: AgentParts) {
    this.#parts = parts;
    this.#time = createTimeWatch({
      clock: parts.ports.clock,
      addresses: () => parts.attach.now()?.local.links.map(({ address }) => address) ?? [],
      ask: (address) => askTime(address),
      onChange: () => this.#report(),
    });
    parts.wire.onChange(() => this.#report());
    parts.pools.onChange(() => this.#report());
  }

  status(): AgentStatus {
    const { identity, link, keeper, leases, observer, daemons, ports } = this.#parts;
    const interfaces = observer.current();
    const skew = checkClock("this host", "clock", link.status().clockAheadMs);
    return {
      rack: identity.rack,
      name: identity.name,
      version: BERTH_VERSION,
      pid: ports.pid,
      link: link.status(),
      accepted: keeper.current()?.generation ?? 0,
      daemons: daemons.map(({ reconciler }) => reconciler.status()),
      activations: daemons.map(({ reconciler }) => ({ daemon: reconciler.status().name, activations: reconciler.activations() })),
      leases: leases[0].follower.health(),
      leases6: leases[1]?.follower.health() ?? null,
      interfaces: { read: interfaces !== null, count: interfaces?.length ?? 0 },
      problems: [...this.#problems(), ...(skew === null ? [] : [skew])], // the region measures it itself
    };
  }

  async run(signal: AbortSignal): Promise<void> {
    const { config, paths, daemons, retirement, keeper, observer, settled, leases, link, wire, pools, ports } = this.#parts;
    const [{ follower }] = leases;
    const { addresses } = config;
    const { clock, log } = ports;
    const failed = new AbortController();
    const either = AbortSignal.any([signal, failed.signal]);
    const server = await serveStatus(paths.socket, () => this.status());
    observer.onChange(() => daemons.forEach(({ bell }) => bell.ring()));
    for (const source of leases)
      source.follower.onChange((change) => (change.reset ? link.renewLeases() : link.changeLeases(change)));
    const onPass = (): void => {
      wire.nudge(); // a pass follows every change of addresses and of the desired state
      this.#report();
    };
    log.info({ rack: this.#parts.identity.name, state: paths.state }, "agent runs");
    const parts = [
      observer.run(either),
      runHostReporter({ addresses, observer, settled, follower, clock, log, report: (host) => link.reportHost(host) }, either),
      this.#time.run(either),
      wire.run(either),
      pools.run(either),
      ...leases.map((source) => source.follower.run(either)),
      link.run(either),
      keeper.run(either),
      ...daemons.map(({ reconciler, bell }) => runReconciler(reconciler, { bell, clock, onPass }, either)),
      ...(retirement === null ? [] : [runLeaseRetirer(retirement.retirer, retirement, either)]),
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
    const { link, keeper } = this.#parts;
    const daemons = this.#parts.daemons.map(({ reconciler }) => reconciler.status());
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
    const { config, keeper, leases, observer, retirement, wire, pools } = this.#parts;
    const unserved = config.mode === "observe" ? checkObserved(keeper.current()?.subnets ?? []) : null;
    const own = [keeper.problem(), retirement?.retirer.problem() ?? null, unserved].filter((problem) => problem !== null);
    return [...own, ...leasesProblems(leases), ...scanProblems(observer.state()), ...wire.problems(), ...pools.problems()];
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
