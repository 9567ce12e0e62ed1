import {
  API_ROOT,
  PROTOCOL_VERSION,
  healthViewSchema,
  isConverged,
  isoTime,
  leaseInUse,
  reportedLeases,
  statusViewSchema,
  versionViewSchema,
  type MachineView,
  type StatusView,
} from "@berth/core";
import type { ApiPorts } from "../ports.js";
import { errorAnswers, type ApiServer } from "./api-server.js";
import { machineViews } from "./machines.js";

const tags = ["system"];

export function systemRoutes(api: ApiServer, ports: ApiPorts): void {
  for (const root of ["", API_ROOT]) healthRoutes(api, ports, root);
  api.get(
    `${API_ROOT}/version`,
    { schema: { tags, summary: "Version of software, API and protocol", response: { 200: versionViewSchema, ...errorAnswers } } },
    () => ({ version: ports.version, api: "v1", protocol: PROTOCOL_VERSION }),
  );
  api.get(
    `${API_ROOT}/status`,
    { schema: { tags, summary: "The region on one screen", response: { 200: statusViewSchema, ...errorAnswers } } },
    () => viewStatus(ports),
  );
}

function healthRoutes(api: ApiServer, { unready }: ApiPorts, root: string): void {
  const config = { role: "none" as const };
  api.get(
    `${root}/healthz`,
    { config, schema: { tags, summary: "Alive", security: [], response: { 200: healthViewSchema } } },
    () => ({ status: "ok" as const, problems: [] }),
  );
  api.get(
    `${root}/readyz`,
    {
      config,
      schema: { tags, summary: "Ready to answer", security: [], response: { 200: healthViewSchema, 503: healthViewSchema } },
    },
    async (_request, reply) => {
      const problems = [...(unready?.() ?? [])];
      return problems.length === 0
        ? reply.code(200).send({ status: "ok" as const, problems })
        : reply.code(503).send({ status: "unready" as const, problems });
    },
  );
}

function viewStatus(ports: ApiPorts): StatusView {
  const { clock, ledger, planner } = ports;
  const racks = ports.racks();
  const now = clock.now();
  const machines = machineViews(ports);
  const count = (state: MachineView["state"]): number => machines.filter((machine) => machine.state === state).length;
  return {
    version: ports.version,
    now: isoTime(now),
    revision: ledger.revision,
    subnets: ledger.subnets().length,
    allocations: ledger.allocationCount(),
    leasesInUse: [...reportedLeases(racks)].filter((entry) => leaseInUse(entry, now)).length,
    machines: {
      sighted: count("sighted"),
      enlisted: count("enlisted"),
      enrolled: count("enrolled"),
      released: count("released"),
    },
    racks: {
      all: racks.length,
      connected: racks.filter(({ connected }) => connected).length,
      converged: racks.filter((rack) => isConverged(rack, planner.desiredFor(rack.id))).length,
    },
    problems: [...ports.problems()],
  };
}
