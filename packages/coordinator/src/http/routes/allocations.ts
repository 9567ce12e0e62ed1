import {
  API_ROOT,
  addressSortKey,
  allocatedManyViewSchema,
  allocatedViewSchema,
  allocateManySchema,
  allocateSchema,
  allocationQuerySchema,
  allocationViewSchema,
  isoTime,
  pageOf,
  pageSchema,
  parseIpAddress,
  prefixesById,
  type Allocation,
  type AllocationView,
  type Problem,
} from "@berth/core";
import type { Ledger } from "../../ledger/ledger.js";
import { allocationTag } from "../../ledger/entity-tag.js";
import { acceptedValue } from "../answer-errors.js";
import { ApiRefusal } from "../api-refusal.js";
import { askerFrom, createdStatus, markChange } from "../asker-from.js";
import type { ApiPorts } from "../ports.js";
import { changeParts, errorAnswers, referenceParameters, type ApiServer } from "./api-server.js";
import { findSubnet } from "./subnets.js";

const tags = ["allocations"];
const ALLOCATION = `${API_ROOT}/allocations/:ref`;

export function allocationRoutes(api: ApiServer, ports: ApiPorts): void {
  readRoutes(api, ports);
  changeRoutes(api, ports);
}

function readRoutes(api: ApiServer, ports: ApiPorts): void {
  const { ledger } = ports;
  api.get(
    `${API_ROOT}/allocations`,
    {
      schema: {
        tags,
        summary: "List",
        querystring: allocationQuerySchema,
        response: { 200: pageSchema(allocationViewSchema), ...errorAnswers },
      },
    },
    (request) => {
      const { kind, machine, subnet } = request.query;
      if (machine !== undefined && ledger.machine(machine) === null) throw unknownMachine(machine);
      const subnetId = subnet === undefined ? null : findSubnet(ledger, subnet).id;
      const listed = subnetId === null ? ledger.allocations() : ledger.allocationsIn(subnetId);
      const found = listed
        .filter((allocation) => kind === undefined || allocation.kind === kind)
        .filter(({ machineId, owners }) => machine === undefined || machineId === machine || owners.includes(machine));
      const page = pageOf(found, ({ address, id }) => `${addressSortKey(address)} ${id}`, request.query);
      return { items: page.items.map(viewAllocation(ports)), next: page.next };
    },
  );
  const response = { 200: allocationViewSchema, ...errorAnswers };
  api.get(
    ALLOCATION,
    { schema: { tags, summary: "Show, by id, address or full name", params: referenceParameters, response } },
    async (request, reply) => {
      const allocation = requireAllocation(ledger, request.params.ref);
      return reply.header("etag", allocationTag(allocation)).send(viewAllocation(ports)(allocation));
    },
  );
}

function changeRoutes(api: ApiServer, ports: ApiPorts): void {
  const { ledger } = ports;
  const one = { 200: allocatedViewSchema, 201: allocatedViewSchema, ...errorAnswers };
  api.post(
    `${API_ROOT}/allocations`,
    {
      schema: {
        tags,
        summary: "Give a known machine an address, in one call",
        body: allocateSchema,
        ...changeParts,
        response: one,
      },
    },
    async (request, reply) => {
      const { allocation, created, warnings } = acceptedValue(await ledger.allocate(request.body, askerFrom(request)));
      markChange(request, reply, allocationTag(allocation));
      const answer = { allocation: viewAllocation(ports)(allocation), created, ...warned(warnings) };
      return reply.code(createdStatus(request, created)).send(answer);
    },
  );
  const many = { 200: allocatedManyViewSchema, 201: allocatedManyViewSchema, ...errorAnswers };
  api.post(
    `${API_ROOT}/allocations/bulk`,
    { schema: { tags, summary: "Give many addresses, all or none", body: allocateManySchema, ...changeParts, response: many } },
    async (request, reply) => {
      const all = acceptedValue(await ledger.allocateMany(request.body.items, askerFrom(request)));
      markChange(request, reply, null);
      const view = viewAllocation(ports);
      const items = all.map(({ allocation, created, warnings }) => ({
        allocation: view(allocation),
        created,
        ...warned(warnings),
      }));
      const created = items.some((item) => item.created);
      return reply.code(createdStatus(request, created)).send({ items });
    },
  );
  const response = { 200: allocationViewSchema, ...errorAnswers };
  const summary = "Give an additional address or a whole VIP back, by id, address or full name";
  api.delete(
    ALLOCATION,
    { schema: { tags, summary, params: referenceParameters, ...changeParts, response } },
    async (request, reply) => {
      const allocation = acceptedValue(await ledger.releaseAllocation(request.params.ref, askerFrom(request)));
      markChange(request, reply, null);
      return viewAllocation(ports)(allocation);
    },
  );
}

function requireAllocation(ledger: Ledger, reference: string): Allocation {
  const address = parseIpAddress(reference);
  const name = reference.toLowerCase();
  const byName = [...[ledger.allocation(name) ?? []].flat(), ...ledger.allocationsNamed(name)];
  const found = address === null ? byName : ledger.allocationsAt(address);
  const [allocation, ...others] = found;
  if (allocation === undefined) {
    throw new ApiRefusal(404, [
      {
        code: "allocation-unknown",
        at: reference,
        message: "there is no such allocation",
        remedy: "see 'berth allocation list'",
      },
    ]);
  }
  if (others.length === 0) return allocation;
  const message = `it is given in several sites: ${found.map(({ id }) => id).join(", ")}`;
  throw new ApiRefusal(409, [{ code: "allocation-ambiguous", at: reference, message, remedy: "use the id" }]);
}

/** What an answer says beside the address, where it says anything. */
export function warned(warnings: readonly Problem[] | undefined): { warnings?: Problem[] } {
  return warnings === undefined || warnings.length === 0 ? {} : { warnings: [...warnings] };
}

/** Makes the API's form of an allocation, with the prefix of its subnet. */
export function viewAllocation({ ledger, verification }: ApiPorts): (allocation: Allocation) => AllocationView {
  const prefixes = prefixesById(ledger.subnets());
  return (allocation) => ({
    id: allocation.id,
    kind: allocation.kind,
    address: allocation.address,
    name: allocation.name,
    subnet: prefixes.get(allocation.subnetId) ?? "",
    subnetId: allocation.subnetId,
    machineId: allocation.machineId,
    nics: [...allocation.nics],
    owners: [...allocation.owners],
    delivery: allocation.delivery,
    verification: verification(allocation),
    createdAt: isoTime(allocation.createdAt),
  });
}

/** A wrong id must not look like a machine without addresses. */
function unknownMachine(id: string): ApiRefusal {
  const remedy = "see 'berth machine list'";
  return new ApiRefusal(404, [{ code: "machine-unknown", at: id, message: "no machine has this id", remedy }]);
}
