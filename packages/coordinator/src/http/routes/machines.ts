import {
  API_ROOT,
  enlistSchema,
  enrollSchema,
  enrolledViewSchema,
  listMachines,
  machineChangeSchema,
  machineQuerySchema,
  machineViewSchema,
  pageOf,
  pageSchema,
  type Machine,
  type MachineSources,
  type MachineView,
} from "@berth/core";
import type { FastifyReply, FastifyRequest } from "fastify";
import { machineTag } from "../../ledger/entity-tag.js";
import { acceptedValue } from "../answer-errors.js";
import { ApiRefusal } from "../api-refusal.js";
import { askerFrom, createdStatus, markChange } from "../asker-from.js";
import { findMachine, oneMachine } from "../find-machine.js";
import type { ApiPorts } from "../ports.js";
import { viewAllocation, warned } from "./allocations.js";
import { changeParts, errorAnswers, referenceParameters, type ApiServer } from "./api-server.js";

const tags = ["machines"];

export function machineRoutes(api: ApiServer, ports: ApiPorts): void {
  readRoutes(api, ports);
  changeRoutes(api, ports);
  recordRoutes(api, ports);
}

function readRoutes(api: ApiServer, ports: ApiPorts): void {
  api.get(
    `${API_ROOT}/machines`,
    {
      schema: {
        tags,
        summary: "List machines and sightings",
        querystring: machineQuerySchema,
        response: { 200: pageSchema(machineViewSchema), ...errorAnswers },
      },
    },
    (request) => {
      const { state } = request.query;
      const views = machineViews(ports).filter((view) => state === undefined || view.state === state);
      return pageOf(views, ({ id, nics }) => `${nics[0] ?? ""} ${id ?? ""}`, request.query);
    },
  );
  api.get(
    `${API_ROOT}/machines/:ref`,
    {
      schema: {
        tags,
        summary: "Show, by id, name, NIC or address",
        params: referenceParameters,
        response: { 200: machineViewSchema, ...errorAnswers },
      },
    },
    async (request, reply) => {
      const { ledger } = ports;
      const view = requireMachine(ports, request.params.ref);
      const machine = view.id === null ? null : ledger.machine(view.id);
      if (machine !== null) reply.header("etag", machineTag(machine, ledger.allocationsOf(machine.id)));
      return reply.send(view);
    },
  );
}

function changeRoutes(api: ApiServer, ports: ApiPorts): void {
  const { ledger } = ports;
  api.post(
    `${API_ROOT}/machines/enroll`,
    {
      schema: {
        tags,
        summary: "Give a machine its static address and name",
        body: enrollSchema,
        ...changeParts,
        response: { 200: enrolledViewSchema, 201: enrolledViewSchema, ...errorAnswers },
      },
    },
    async (request, reply) => {
      const { allocation, created, machine, warnings } = acceptedValue(await ledger.enroll(request.body, askerFrom(request)));
      const view = {
        machine: changedMachine(ports, machine, { request, reply }),
        allocation: viewAllocation(ports)(allocation),
        created,
        ...warned(warnings),
      };
      return reply.code(createdStatus(request, created)).send(view);
    },
  );
  api.post(
    `${API_ROOT}/machines/:ref/release`,
    {
      schema: {
        tags,
        summary: "End all its allocations, by id, name or NIC",
        params: referenceParameters,
        ...changeParts,
        response: { 200: machineViewSchema, ...errorAnswers },
      },
    },
    async (request, reply) => {
      const released = acceptedValue(await ledger.release(request.params.ref, askerFrom(request)));
      return changedMachine(ports, released, { request, reply });
    },
  );
}

function recordRoutes(api: ApiServer, ports: ApiPorts): void {
  const { ledger } = ports;
  const made = { 200: machineViewSchema, 201: machineViewSchema, ...errorAnswers };
  api.post(
    `${API_ROOT}/machines/enlist`,
    { schema: { tags, summary: "Write a machine down without an address", body: enlistSchema, ...changeParts, response: made } },
    async (request, reply) => {
      const { machine, created } = acceptedValue(await ledger.enlist(request.body, askerFrom(request)));
      return reply.code(createdStatus(request, created)).send(changedMachine(ports, machine, { request, reply }));
    },
  );
  const response = { 200: machineViewSchema, ...errorAnswers };
  const summary = "Rename it, add NICs, take NICs away; by id, name or NIC";
  api.patch(
    `${API_ROOT}/machines/:ref`,
    { schema: { tags, summary, params: referenceParameters, body: machineChangeSchema, ...changeParts, response } },
    async (request, reply) => {
      const machine = acceptedValue(await ledger.changeMachine(request.params.ref, request.body, askerFrom(request)));
      return changedMachine(ports, machine, { request, reply });
    },
  );
}

/** The machine list of this moment. */
export function machineViews(ports: ApiPorts): MachineView[] {
  return listMachines(machineSources(ports));
}

function machineSources({ clock, ledger, racks }: ApiPorts): MachineSources {
  return {
    machines: ledger.machines(),
    allocations: ledger.allocations(),
    subnets: ledger.subnets(),
    racks: racks(),
    nowMs: clock.now(),
  };
}

/** The view of a machine that a request changed, and the mark of the change. Whole lists would make the cost of one answer grow with the ledger. */
function changedMachine(
  ports: ApiPorts,
  machine: Machine,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
): MachineView {
  const allocations = ports.ledger.allocationsOf(machine.id);
  const record = ports.ledger.machine(machine.id);
  markChange(request, reply, record === null ? null : machineTag(record, allocations));
  return oneMachine(ports, machine, allocations);
}

function requireMachine(ports: ApiPorts, reference: string): MachineView {
  const machine = findMachine(ports, reference);
  if (machine !== null) return machine;
  throw new ApiRefusal(404, [
    { code: "machine-unknown", at: reference, message: "no such machine is known", remedy: "see 'berth machine list'" },
  ]);
}
