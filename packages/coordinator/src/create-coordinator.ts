import { join } from "node:path";
import {
  accepted,
  BERTH_VERSION,
  currentProblems,
  formatJoinLine,
  isVirtualAnywhere,
  refused,
  regionProblems,
  topologyProblems,
  WireRecords,
  type FoundProblem,
  type IpAddress,
  type ObservedHolder,
  type PlanFacts,
  type Problem,
  type RackView,
  type Topology,
} from "@berth/core";
import type { Clock, Commands, Files, Log } from "@berth/host";
import { splitEndpoint, type CoordinatorConfig } from "./config.js";
import { createApi } from "./http/create-api.js";
import { listenOnAddress, listenOnSocket, type ApiEndpoint } from "./http/listen-api.js";
import type { ApiPorts, JoinLineRequest } from "./http/ports.js";
import { openApiTokens, type ApiTokens } from "./http/api-tokens.js";
import { digestApiToken, makeApiToken, type StoredToken } from "./http/token-auth.js";
import type { Notices } from "./notices/create-notices.js";
import { openNotices } from "./notices/open-notices.js";
import { createHub, type Hub } from "./hub/hub.js";
import type { Ledger } from "./ledger/ledger.js";
import { openLedger } from "./ledger/open-ledger.js";
import { advertisedLink, listensEverywhere } from "./own-host/advertised-link.js";
import { createOwnAddresses, type OwnAddresses } from "./own-host/own-addresses.js";
import { createPlanner, type Planner } from "./plan/planner.js";
import { createToken } from "./racks/create-token.js";
import { followRacks } from "./racks/follow-racks.js";
import { createRackRegistry, type RackRegistry } from "./racks/rack-registry.js";
import { createPostgresStore } from "./store/postgres/postgres-store.js";
import { createSqliteStore } from "./store/sqlite-store.js";
import type { Store, TopologyStore } from "./store/store.js";
import { openTls, type Tls } from "./tls/open-tls.js";
import { shareAuthority } from "./tls/share-authority.js";
import { watchSetBack } from "./topology/lived-moments.js";
import type { ProblemWatch } from "./topology/problem-watch.js";
import { createWireKeeper, type WireKeeper } from "./wire/wire-keeper.js";
import { createTopologyKeeper, type TopologyKeeper } from "./topology/topology-keeper.js";

export interface CoordinatorPorts {
  readonly files: Files;
  readonly clock: Clock;
  readonly commands: Commands;
  readonly log: Log;
}

export interface Coordinator {
  /** Serves racks and the API until aborted. */
  run(signal: AbortSignal): Promise<void>;
  /** Where the API listens, as `BERTH_URL` takes it; empty before it does. */
  endpoints(): readonly string[];
}

interface Parts extends Turn {
  readonly config: CoordinatorConfig;
  readonly ports: CoordinatorPorts;
  readonly store: Store;
  readonly tls: Tls;
  readonly registry: RackRegistry;
  readonly ledger: Ledger;
  readonly planner: Planner;
  readonly hub: Hub;
  readonly apiTokens: ApiTokens;
  readonly keeper: TopologyKeeper;
  readonly wire: WireKeeper;
  readonly problems: ProblemWatch;
  /** Null when nobody wants to be told. */
  readonly notices: Notices | null;
  /** Null where the link listens on one address or is told where it is. */
  readonly own: OwnAddresses | null;
  /** What agents are told to dial, best first. */
  readonly advertised: () => readonly string[];
}

export interface Turn {
  /** False for one of several coordinators on a database, while another has the racks: this one reads what they report, and neither listens nor plans. */
  readonly hasRacks: boolean;
}

/** Opens the store and puts a coordinator together; nothing listens yet. */
export async function createTurn(config: CoordinatorConfig, ports: CoordinatorPorts, { hasRacks }: Turn): Promise<Coordinator> {
  const store = await openStore(config, ports);
  try {
    const facts = await openFacts(config, ports, { store, hasRacks });
    const { registry, ledger, keeper, planner, wire } = facts;
    const own = await openOwnAddresses(config, keeper, ports);
    const advertised = (): readonly string[] => advertisedLink(config, own?.list() ?? []);
    const { tls, hub } = await openHub(config, { ports, store, registry, planner, wire, advertised });
    const racks = (): readonly RackView[] => registry.views();
    const ofRacks = (): FoundProblem[] => [
      ...regionProblems(hub.problems()),
      ...currentProblems(racks(), planner.problems(), [...topologyProblems(keeper.current()), ...wire.problems()]),
    ];
    const setBack = await watchSetBack(store.audit, ports.clock);
    const find = (): FoundProblem[] => [
      ...regionProblems([store.problem() ?? [], setBack() ?? []].flat()),
      ...(hasRacks ? ofRacks() : regionProblems([RACKS_ELSEWHERE])),
    ];
    const vipMoves: TopologyStore["moves"] = (asked) => keeper.moves(asked);
    const wanted = hasRacks ? config.notices : { log: false, webhooks: [] };
    const told = await openNotices(wanted, { ...ports, store, racks, vipMoves, find });
    ledger.onChange(() => told.notices?.nudge());
    const fixed = [await adminToken(config.data, ports.files)];
    const apiTokens = await openApiTokens({ store, ...ports, fixed });
    return new RunningCoordinator({ hasRacks, config, ports, store, tls, ...facts, hub, apiTokens, ...told, own, advertised });
  } catch (error) {
    await store.close();
    throw error;
  }
}

type Facts = Pick<Parts, "registry" | "ledger" | "keeper" | "planner" | "wire">;

/** What the region is, sees and plans. They ask each other, so each knows the others by the time anybody asks. */
async function openFacts(
  config: CoordinatorConfig,
  ports: CoordinatorPorts,
  { store, hasRacks }: Pick<Parts, "store" | "hasRacks">,
): Promise<Facts> {
  const registry = await createRackRegistry({ store, ...ports });
  const racks = (): readonly RackView[] => registry.views();
  const plans: PlanFacts = {
    withdrawnAt: (rackId, releasedAt) => planner.withdrawnAt(rackId, releasedAt),
    enlistmentSubnet: (rackId, address) => planner.enlistmentSubnet(rackId, address),
  };
  const { addresses, wire: wireConfig } = config;
  const loaded = await store.wire.load();
  const records = new WireRecords(loaded.records);
  const windowMs = wireConfig.observationDays * DAY_MS;
  const heard = { wire: records, wireWindowMs: windowMs };
  const kept = (site: string, address: IpAddress): ObservedHolder | null => keeper.holder(site, address);
  const ledger = await openLedger({ store, racks, finder: registry.finder, ...ports, plans, kept, ...heard });
  const wire = createWireKeeper({ ...ports, records, mark: loaded.mark, ledger, registry, store: store.wire, windowMs });
  const keptIn = hasRacks ? store : withoutSaving(store);
  const keeper: TopologyKeeper = await createTopologyKeeper({ ...ports, registry, ledger, store: keptIn, addresses });
  const topology = (): Topology => keeper.current();
  const policy = { ...config.dns, ntpUpstreams: config.ntp.upstreams };
  const planner: Planner = await createPlanner({ ledger, racks, store, ...ports, policy, topology });
  registry.onChange(() => planner.nudge());
  keeper.onChange(() => planner.nudge());
  return { registry, ledger, keeper, planner, wire };
}

/** The region's end of all links, with its certificate, told of what changes for a rack. */
async function openHub(
  config: CoordinatorConfig,
  from: Pick<Parts, "ports" | "store" | "registry" | "planner" | "wire" | "advertised">,
): Promise<Pick<Parts, "tls" | "hub">> {
  const { ports, store, registry, planner, wire, advertised } = from;
  const hosts = ["localhost", "127.0.0.1", ...advertised().map((endpoint) => splitEndpoint(endpoint).host)];
  if (config.database !== null) await shareAuthority(store.settings, config.data, ports.files);
  const tls = await openTls({ directory: config.data, files: ports.files, clock: ports.clock, hosts });
  const hub = createHub({
    ...ports,
    tls,
    registry,
    wire,
    tokens: store.tokens,
    audit: store.audit,
    listen: splitEndpoint(config.link.listen),
    desiredFor: (rackId) => planner.desiredFor(rackId),
    regions: advertised,
    version: BERTH_VERSION,
  });
  wire.onWishes((rackId) => hub.probe(rackId));
  planner.onDesired((rackId) => hub.push(rackId));
  return { tls, hub };
}

/** In the data folder, unless the region has a database that coordinators share. */
function openStore({ data, database }: CoordinatorConfig, ports: CoordinatorPorts): Promise<Store> {
  return database === null ? createSqliteStore(data, ports) : createPostgresStore(database, ports);
}

/** Only who listens everywhere has to look where that is. */
async function openOwnAddresses(
  config: CoordinatorConfig,
  keeper: TopologyKeeper,
  ports: CoordinatorPorts,
): Promise<OwnAddresses | null> {
  if (!listensEverywhere(config)) return null;
  const isVirtual = (address: IpAddress): boolean => isVirtualAnywhere(keeper.current(), address);
  const onlyIpv4 = splitEndpoint(config.link.listen).host === "0.0.0.0";
  return createOwnAddresses({ ...ports, addresses: config.addresses, isVirtual, onlyIpv4 });
}

const DAY_MS = 24 * 3_600_000;
const TOKEN_MAX = 1024;

/** The admin's token is made at the first start and lies in the data folder, for its owner alone. */
async function adminToken(dataFolder: string, files: Files): Promise<StoredToken> {
  const path = join(dataFolder, "admin.token");
  const saved = await files.read(path, TOKEN_MAX);
  const token = saved === null ? makeApiToken() : Buffer.from(saved).toString("utf8").trim();
  if (saved === null) await files.replace(path, `${token}\n`, 0o600);
  return { name: "admin", role: "admin", digest: digestApiToken(token) };
}

class RunningCoordinator implements Coordinator {
  readonly #parts: Parts;
  #endpoints: readonly ApiEndpoint[] = [];

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  endpoints(): readonly string[] {
    return this.#endpoints.map(({ url }) => url);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { apiTokens, hasRacks, hub, keeper, ledger, notices, own, planner, problems, registry, store, wire, ports } =
      this.#parts;
    const failed = new AbortController();
    const either = AbortSignal.any([signal, failed.signal]);
    const stopAll = (error: unknown): never => {
      failed.abort(error);
      throw error;
    };
    try {
      const ofRacks = hasRacks
        ? [planner, hub, keeper, wire]
        : [{ run: (end: AbortSignal) => followRacks([registry, wire], ports, end) }];
      const parts = [ledger, ...ofRacks, problems, apiTokens, ...[own, notices].filter((part) => part !== null)];
      const running = [...parts.map((part) => part.run(either)), this.#serveApi(either)];
      const settled = await Promise.allSettled(running.map((part) => part.catch(stopAll)));
      const failure = settled.find((outcome) => outcome.status === "rejected");
      if (failure !== undefined) throw failure.reason;
    } finally {
      await store.close();
    }
    ports.log.info("coordinator ends; the racks go on");
  }

  async #serveApi(signal: AbortSignal): Promise<void> {
    const { config, hasRacks, hub, ports } = this.#parts;
    if (hasRacks) await Promise.race([hub.ready(), aborted(signal)]);
    if (signal.aborted) return;
    const api = await createApi(this.#apiPorts());
    await api.ready();
    try {
      const opened: ApiEndpoint[] = [];
      this.#endpoints = opened;
      opened.push(await listenOnSocket(api, join(config.data, "api.sock")));
      for (const { host, port } of config.api.listen.map(splitEndpoint)) opened.push(await listenOnAddress(api, host, port));
      ports.log.info({ endpoints: this.endpoints(), fingerprint: this.#parts.tls.fingerprint }, "the API answers");
      await aborted(signal);
    } finally {
      // Together: an endpoint closes when its last request ends, and readers of events end with the API.
      await Promise.all([api.close(), ...this.#endpoints.map((endpoint) => endpoint.close())]);
    }
  }

  #apiPorts(): ApiPorts {
    const { hasRacks, ledger, registry, planner, apiTokens, ports, keeper, problems, store, wire } = this.#parts;
    return {
      ledger,
      verification: (allocation) => wire.verification(allocation),
      racks: () => registry.views(),
      leasesOf: (nic) => registry.leasesOf(nic),
      leasesAt: (address) => registry.leasesAt(address),
      removeRack: async (rackId) => {
        if (!hasRacks) return refused(RACKS_ELSEWHERE);
        return (await registry.remove(rackId)) ? accepted(rackId) : refused(noSuchRack(rackId));
      },
      createToken: async (request, actor) => (hasRacks ? this.#createJoinLine(request, actor) : refused(RACKS_ELSEWHERE)),
      planner,
      topology: () => keeper.current(),
      problems: () => problems.list(),
      vipMoves: (asked) => keeper.moves(asked),
      audit: store.audit,
      auth: apiTokens,
      apiTokens,
      clock: ports.clock,
      log: ports.log,
      version: BERTH_VERSION,
    };
  }

  async #createJoinLine(request: JoinLineRequest, actor: string): ReturnType<ApiPorts["createToken"]> {
    const { store, tls, config, ports, advertised, registry } = this.#parts;
    const order = {
      replace: request.replace,
      rack: request.rack ?? null,
      ttlMs: request.ttlSeconds * 1000,
      ...(request.site === undefined ? {} : { site: request.site }),
    };
    const { tokens, audit } = store;
    const token = await createToken({ tokens, audit, racks: () => registry.views(), clock: ports.clock }, order, actor);
    if (!token.ok) return token;
    const [address = config.link.listen] = advertised();
    return accepted({ joinLine: formatJoinLine(address, token.value, tls.fingerprint), expiresAt: token.value.expiresAt });
  }
}

const RACKS_ELSEWHERE: Problem = {
  code: "racks-elsewhere",
  at: "racks",
  message: "another coordinator of this database has the racks; this one knows of them what the database has",
  remedy: "ask that one for tokens to join, connections, plans and problems of racks, and to remove a rack",
};

/** A coordinator that only reads what racks report must not write over it. */
function withoutSaving({ topology }: Pick<Store, "topology">): Pick<Store, "topology"> {
  return { topology: { ...topology, save: () => Promise.resolve() } };
}

function noSuchRack(rackId: string): Problem {
  return { code: "rack-unknown", at: `rack ${rackId}`, message: "there is no such rack", remedy: "`berth rack list` shows them" };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
