import { X509Certificate } from "node:crypto";
import {
  AGENT_FRAME_LIMITS,
  formatRegionAddress,
  type DesiredState,
  type IpAddress,
  type JoinRequest,
  type Problem,
} from "@berth/core";
import { EnvironmentError, silentLog, systemClock, type Clock, type Files } from "@berth/host";
import { createCertificateRequest } from "../../../packages/agent/src/identity/certificate-request.js";
import { ensureCandidate, identityFrom, type Identity } from "../../../packages/agent/src/identity/identity.js";
import { dialRegion, type DialRegion } from "../../../packages/agent/src/link/dial-region.js";
import { admitRack, type AdmissionPorts } from "../../../packages/coordinator/src/hub/admit-rack.js";
import { createHub, type Hub } from "../../../packages/coordinator/src/hub/hub.js";
import type { WirePort } from "../../../packages/coordinator/src/hub/session.js";
import { Sessions } from "../../../packages/coordinator/src/hub/sessions.js";
import { createToken } from "../../../packages/coordinator/src/racks/create-token.js";
import type { TokenStore } from "../../../packages/coordinator/src/store/store.js";
import { createRackRegistry, type RackRegistry } from "../../../packages/coordinator/src/racks/rack-registry.js";
import { publicKeyHash } from "../../../packages/coordinator/src/tls/certificate.js";
import { openTls, type Tls } from "../../../packages/coordinator/src/tls/open-tls.js";
import { memoryChannels } from "./memory-channel.js";
import { memoryFiles, memoryStore, type LinkStore } from "./memory-ports.js";

/** What a rack told of its wires. */
export type HeardOnWire = { readonly rack: string } & Parameters<WirePort["hear"]>[1];

/** A region with its racks: the same over both carriers, so that one suite judges both. */
export interface LinkWorld {
  /** What is wrong with the links. */
  problems(): readonly Problem[];
  readonly clock: Clock;
  readonly store: LinkStore;
  readonly tls: Tls;
  readonly dial: DialRegion;
  readonly desired: Map<string, DesiredState>;
  registry(): RackRegistry;
  address(): string;
  push(rackId: string): void;
  /** What racks told of their wires, and what each is to probe. */
  readonly heard: HeardOnWire[];
  readonly wishes: Map<string, readonly IpAddress[]>;
  probe(rackId: string): void;
  connected(): readonly string[];
  /** The coordinator goes and comes back with what its store holds. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Addresses that the region tells its racks at every welcome; nobody listens there. */
export const TOLD: readonly string[] = ["127.0.0.1:9"];

type Carrier = Pick<LinkWorld, "address" | "push" | "probe" | "connected" | "problems" | "stop" | "dial">;
export type CarrierName = "in memory" | "over TLS";

export async function createLinkWorld(
  name: CarrierName,
  clock: Clock = systemClock,
  store: LinkStore = memoryStore(),
): Promise<LinkWorld> {
  const files = memoryFiles();
  const tls = await openTls({ directory: "/region", files, clock, hosts: ["127.0.0.1"] });
  const desired = new Map<string, DesiredState>();
  const heard: HeardOnWire[] = [];
  const wishes = new Map<string, readonly IpAddress[]>();
  const wire: WirePort = {
    hear: (rack, message) => void heard.push({ rack, ...message }),
    wishesFor: (rack) => wishes.get(rack) ?? [],
  };
  let registry = await createRackRegistry({ store, clock, log: silentLog });
  let port = 0;
  const begin = async (): Promise<Carrier> => {
    const setup = { tls, registry, tokens: store.tokens, audit: store.audit, clock, log: silentLog, regions: () => TOLD };
    if (name === "in memory") return beginInMemory(setup, desired, wire);
    const hub = createHub({ ...setup, wire, desiredFor: (id) => desired.get(id) ?? null, listen: { host: "127.0.0.1", port } });
    const carrier = await beginOverTls(hub);
    port = hub.address()?.port ?? 0;
    return carrier;
  };
  let carrier = await begin();
  return {
    clock,
    store,
    tls,
    desired,
    registry: () => registry,
    address: () => carrier.address(),
    push: (rack) => {
      carrier.push(rack);
    },
    heard,
    wishes,
    probe: (rack) => {
      carrier.probe(rack);
    },
    connected: () => carrier.connected(),
    problems: () => carrier.problems(),
    dial: (address, identity, signal) => carrier.dial(address, identity, signal),
    async restart() {
      await carrier.stop();
      registry = await createRackRegistry({ store, clock, log: silentLog });
      carrier = await begin();
    },
    stop: () => carrier.stop(),
  };
}

async function beginOverTls(hub: Hub): Promise<Carrier> {
  const stop = new AbortController();
  const running = hub.run(stop.signal);
  await Promise.race([hub.ready(), running]);
  return {
    dial: dialRegion,
    address: () => formatRegionAddress(hub.address() ?? { host: "127.0.0.1", port: 1 }),
    push: (rack) => {
      hub.push(rack);
    },
    probe: (rack) => {
      hub.probe(rack);
    },
    connected: () => hub.connected(),
    problems: () => hub.problems(),
    async stop() {
      stop.abort();
      await running;
    },
  };
}

function beginInMemory(admission: AdmissionPorts, desired: Map<string, DesiredState>, wire: WirePort): Carrier {
  const sessions = new Sessions({ admission, wire, version: "test", desiredFor: (id) => desired.get(id) ?? null });
  let up = true;
  const timer = setInterval(() => {
    sessions.tick();
  }, 1_000);
  return {
    address: () => "127.0.0.1:1",
    push: (rack) => {
      sessions.push(rack);
    },
    probe: (rack) => {
      sessions.probe(rack);
    },
    connected: () => sessions.racks(),
    problems: () => sessions.problems(),
    dial(_address, identity) {
      const hash = publicKeyHash(new X509Certificate(identity.certificate).publicKey);
      const known = admission.registry.record(identity.rack);
      if (!up) return Promise.reject(new EnvironmentError("region-unreachable", "memory", "down"));
      if (known?.publicKeyHash !== hash) return Promise.reject(new EnvironmentError("rack-unknown", "memory", "removed"));
      const certificateEndsAt = Date.parse(new X509Certificate(identity.certificate).validTo);
      const [agentEnd, hubEnd] = memoryChannels(AGENT_FRAME_LIMITS.bytes);
      sessions.accept(hubEnd, { rack: identity.rack, publicKeyHash: hash, certificateEndsAt });
      return Promise.resolve(agentEnd);
    },
    stop() {
      up = false;
      clearInterval(timer);
      sessions.stop();
      return Promise.resolve();
    },
  };
}

export async function makeToken(
  world: Pick<LinkWorld, "store" | "clock"> & Partial<Pick<LinkWorld, "registry">>,
  rack?: string,
  { replace = false }: { readonly replace?: boolean } = {},
): Promise<string> {
  const { tokens, audit } = world.store;
  const ports = { tokens, audit, racks: () => world.registry?.().views() ?? [], clock: world.clock };
  const token = await createToken(ports, { replace, ...(rack === undefined ? {} : { rack }) }, "test");
  if (!token.ok) throw new Error(JSON.stringify(token.problems));
  return `${token.value.id}.${token.value.secret}`;
}

/** What the door does behind TLS, for a host whose disk is `files`. */
export async function ask(
  world: LinkWorld,
  from: { readonly hostname: string; readonly token: string; readonly files: Files; readonly tokens?: TokenStore },
) {
  const { hostname, token, files, tokens = world.store.tokens } = from;
  const candidate = await ensureCandidate("/rack", files);
  const request: JoinRequest = {
    token,
    rack: candidate.rack,
    name: null,
    hostname,
    version: "test",
    request: await createCertificateRequest(candidate.key),
  };
  const ports = {
    tls: world.tls,
    registry: world.registry(),
    tokens,
    audit: world.store.audit,
    clock: world.clock,
    log: silentLog,
    regions: () => [],
  };
  return admitRack(ports, request);
}

/** Joins without the network. */
export async function admit(world: LinkWorld, hostname: string, files: Files = memoryFiles()): Promise<Identity> {
  const answer = await ask(world, { hostname, token: await makeToken(world), files });
  if (!answer.ok) throw new Error(JSON.stringify(answer.problems));
  return identityFrom(answer.value, await ensureCandidate("/rack", files), world.address());
}
