import {
  API_ROOT,
  enrollSchema,
  enrolledViewSchema,
  findMachineView,
  listMachines,
  machineQuerySchema,
  machineViewSchema,
  pageOf,
  pageSchema,
  parseHardwareAddress,
  parseIpAddress,
  viewMachine,
  type Machine,
  type MachineSources,
  type MachineView,
} from "@berth/core";
import { acceptedValue } from "../answer-errors.js";
import { ApiRefusal } from "../api-refusal.js";
import { actorOf } from "../authenticate.js";
import type { ApiPorts } from "../ports.js";
import { viewAllocation } from "./allocations.js";
import { errorAnswers, referenceParameters, type ApiServer } from "./api-server.js";

const tags = ["machines"];
const ETHERNET_CHARACTERS = 17;

export function machineRoutes(api: ApiServer, ports: ApiPorts): void {
  readRoutes(api, ports);
  changeRoutes(api, ports);
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
    (request) => requireMachine(ports, request.params.ref),
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
        response: { 200: enrolledViewSchema, 201: enrolledViewSchema, ...errorAnswers },
      },
    },
    async (request, reply) => {
      const { allocation, created, machine } = acceptedValue(await ledger.enroll(request.body, actorOf(request)));
      const view = {
        machine: viewMachine(machine, sourcesOf(ports, machine)),
        allocation: viewAllocation(ledger)(allocation),
        created,
      };
      return reply.code(created ? 201 : 200).send(view);
    },
  );
  api.post(
    `${API_ROOT}/machines/:ref/release`,
    {
      schema: {
        tags,
        summary: "End all its allocations, by id, name or NIC",
        params: referenceParameters,
        response: { 200: machineViewSchema, ...errorAnswers },
      },
    },
    async (request) => {
      const released = acceptedValue(await ledger.release(request.params.ref, actorOf(request)));
      return viewMachine(released, sourcesOf(ports, released));
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

/** All that the view of a machine in use needs. Whole lists would make the cost of one answer grow with the ledger. */
function sourcesOf({ clock, ledger, racks }: ApiPorts, machine: Machine): MachineSources {
  return {
    machines: [machine],
    allocations: ledger.allocationsOf(machine.id),
    subnets: ledger.subnets(),
    racks: racks(),
    nowMs: clock.now(),
  };
}

function requireMachine(ports: ApiPorts, reference: string): MachineView {
  const machine = findMachineView(machineViews(ports), canonicalReference(reference));
  if (machine !== null) return machine;
  throw new ApiRefusal(404, [
    { code: "machine-unknown", at: reference, message: "no such machine is known", remedy: "see 'berth machine list'" },
  ]);
}

/** A NIC or an address in any usual spelling becomes the canonical one, a name lower case; an id is so already. */
function canonicalReference(reference: string): string {
  return parseIpAddress(reference) ?? ethernetAddress(reference) ?? reference.toLowerCase();
}

/** Only six octets and more count: a short one could be meant as a name (`be-ef`). */
function ethernetAddress(text: string): string | null {
  const address = parseHardwareAddress(text);
  return address !== null && address.length >= ETHERNET_CHARACTERS ? address : null;
}
