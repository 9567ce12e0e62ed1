import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FastifyInstance } from "fastify";
import {
  currentProblems,
  ipAddress,
  isoTime,
  leasesOfNic,
  parseHardwareAddress,
  topologyOf,
  type HardwareAddress,
  type LeaseReport,
  type Problem,
  type RackView,
  type Topology,
} from "@berth/core";
import { silentLog, type Clock } from "@berth/host";
import { createApi } from "../../../packages/coordinator/src/http/create-api.js";
import { openLedger } from "../../../packages/coordinator/src/ledger/open-ledger.js";
import { createSqliteStore } from "../../../packages/coordinator/src/store/sqlite-store.js";
import type { Store } from "../../../packages/coordinator/src/store/store.js";
import type { ApiPorts } from "../../../packages/coordinator/src/http/ports.js";
import { openApiTokens } from "../../../packages/coordinator/src/http/api-tokens.js";
import { digestApiToken } from "../../../packages/coordinator/src/http/token-auth.js";

export const ADMIN_TOKEN = "berth_admin-for-tests";
export const READ_TOKEN = "berth_read-for-tests";
export const NOW = Date.UTC(2026, 10, 30, 12, 0, 0);

export function mac(text: string): HardwareAddress {
  const address = parseHardwareAddress(text);
  if (address === null) throw new Error(`not a MAC: ${text}`);
  return address;
}

export function lease(address: string, change: Partial<LeaseReport> = {}): LeaseReport {
  return {
    address: ipAddress(address),
    state: "active",
    inUse: true,
    allocatable: false,
    hardwareAddress: mac("02:00:00:00:00:01"),
    dnsLabel: null,
    starts: NOW / 1000 - 30,
    ends: NOW / 1000 + 30,
    ...change,
  };
}

export function rack(name: string, change: Partial<RackView> & { readonly reports?: readonly LeaseReport[] } = {}): RackView {
  const { reports = [], ...rest } = change;
  return {
    id: `id-${name}`,
    name,
    site: "default",
    joinedAt: NOW - 60_000,
    connected: true,
    lastSeenAt: NOW - 1000,
    interfaces: [
      {
        name: "eth0",
        index: 2,
        parent: null,
        kind: null,
        vlanId: null,
        hardwareAddress: mac("02:00:00:00:ff:01"),
        permanentAddress: null,
        flags: ["UP", "LOWER_UP"],
        mtu: 1500,
        addresses: [
          {
            address: ipAddress("192.168.50.2"),
            prefixLength: 24,
            peer: null,
            broadcast: null,
            scope: "global",
            label: null,
            flags: [],
            protocol: null,
            validLifetime: null,
            preferredLifetime: null,
          },
        ],
      },
    ],
    interfacesAt: NOW - 1000,
    leases: new Map(reports.map((report) => [report.address, report])),
    accepted: 0,
    daemons: [],
    problems: [],
    ...rest,
  };
}

export interface ApiFixture {
  readonly api: FastifyInstance;
  /** What the racks report; replace it to change what the API sees. */
  racks: RackView[];
  planProblems: Problem[];
  /** Merged over time by the test; null for one of the racks' newest reports. */
  topology: Topology | null;
  unready: Problem[];
  nowMs: number;
  readonly removed: string[];
  readonly tokens: { rack?: string; site?: string; ttlSeconds: number; replace: boolean }[];
  readonly ports: ApiPorts;
  readonly store: Store;
  /** Where the store keeps its files. */
  readonly dataFolder: string;
  readonly close: () => Promise<void>;
}

/** A real API over a real ledger in a folder of its own; closed by the test. */
export async function createFixture(change: Partial<ApiPorts> = {}): Promise<ApiFixture> {
  const state = {
    topology: null as Topology | null,
    racks: [] as RackView[],
    planProblems: [] as Problem[],
    unready: [] as Problem[],
    nowMs: NOW,
  };
  const removed: string[] = [];
  const tokens: ApiFixture["tokens"] = [];
  const clock: Clock = { now: () => state.nowMs, monotonic: () => state.nowMs, sleep: () => Promise.resolve() };
  const folder = await mkdtemp(join(tmpdir(), "berth-api-"));
  const store = await createSqliteStore(folder, { clock, log: silentLog });
  const fixed = [
    { name: "admin", role: "admin", digest: digestApiToken(ADMIN_TOKEN) },
    { name: "watcher", role: "read", digest: digestApiToken(READ_TOKEN) },
  ] as const;
  const apiTokens = await openApiTokens({ store, clock, log: silentLog, fixed });
  const ports: ApiPorts = {
    ledger: await openLedger({ store, racks: () => state.racks, clock, log: silentLog }),
    verification: () => "unverified",
    racks: () => state.racks,
    leasesAt: (address) =>
      state.racks.flatMap((rack) => [rack.leases.get(address) ?? []].flat().map((each) => ({ rack, lease: each }))),
    leasesOf: (nic) => state.racks.flatMap((rack) => leasesOfNic(rack.leases, nic).map((lease) => ({ rack, lease }))),
    removeRack: (id) => {
      removed.push(id);
      state.racks = state.racks.filter((known) => known.id !== id);
      return Promise.resolve({ ok: true, value: null });
    },
    createToken: (request) => {
      tokens.push(request);
      return Promise.resolve({
        ok: true,
        value: { joinLine: "192.0.2.1:7443 id.secret sha256:00", expiresAt: NOW + request.ttlSeconds * 1000 },
      });
    },
    planner: { desiredFor: () => null },
    topology: () => state.topology ?? topologyOf(state.racks, state.nowMs),
    problems: () =>
      currentProblems(state.racks, state.planProblems).map((problem) => ({ ...problem, since: isoTime(state.nowMs - 1000) })),
    vipMoves: (asked) => store.topology.moves(asked),
    audit: store.audit,
    auth: apiTokens,
    apiTokens,
    clock,
    log: silentLog,
    version: "0.1.0",
    checkAnswers: true,
    unready: () => state.unready,
    ...change,
  };
  const api = await createApi(ports);
  const close = async (): Promise<void> => {
    await api.close();
    await store.close();
    await rm(folder, { recursive: true });
  };
  return Object.assign(state, { api, store, dataFolder: folder, removed, tokens, ports, close });
}

export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: unknown;
}

/** One request without a socket between, as the administrator; a text is a body as it is. */
export async function ask(
  fixture: ApiFixture,
  method: "GET" | "POST" | "PATCH" | "DELETE",
  path: string,
  body?: unknown,
): Promise<Answer> {
  const response = await fixture.api.inject({
    method,
    url: `/api/v1${path}`,
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, ...(body === undefined ? {} : { "content-type": "application/json" }) },
    ...(body === undefined ? {} : { payload: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  return { status: response.statusCode, type: String(response.headers["content-type"]), body: response.json<unknown>() };
}

export const SUBNET = { prefix: "192.168.50.0/24", domain: "rack1.example", gateway: "192.168.50.1", mode: "link-local" };
