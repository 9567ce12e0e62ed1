import {
  addressSortKey,
  allocatedViewSchema,
  allocationViewSchema,
  API_ROOT,
  ipAddress,
  isoTime,
  pageOf,
  pageQuerySchema,
  pageSchema,
  viewVips,
  vipCreateSchema,
  vipMoveQuerySchema,
  vipMoveViewSchema,
  vipOwnerSchema,
  vipViewSchema,
} from "@berth/core";
import { z } from "zod";
import { allocationTag } from "../../ledger/entity-tag.js";
import { acceptedValue } from "../answer-errors.js";
import { askerFrom, createdStatus, markChange } from "../asker-from.js";
import type { ApiPorts } from "../ports.js";
import { viewAllocation, warned } from "./allocations.js";
import { changeParts, errorAnswers, referenceParameters, type ApiServer } from "./api-server.js";

const tags = ["vips"];
const ownerParameters = referenceParameters.extend({ machine: z.string().min(1).max(300) });

export function vipRoutes(api: ApiServer, ports: ApiPorts): void {
  readRoutes(api, ports);
  createRoute(api, ports);
  ownerRoutes(api, ports);
}

function readRoutes(api: ApiServer, { ledger, topology, vipMoves }: ApiPorts): void {
  api.get(
    `${API_ROOT}/vips`,
    {
      schema: {
        tags,
        summary: "List virtual addresses: who holds each now and where it last moved",
        querystring: pageQuerySchema,
        response: { 200: pageSchema(vipViewSchema), ...errorAnswers },
      },
    },
    (request) => {
      const vips = viewVips({ topology: topology(), subnets: ledger.subnets(), allocations: ledger.vips() });
      return pageOf(vips, ({ address, site }) => `${site} ${addressSortKey(ipAddress(address))}`, request.query);
    },
  );
  api.get(
    `${API_ROOT}/vip-moves`,
    {
      schema: {
        tags,
        summary: "List moves of virtual addresses between racks, newest first",
        querystring: vipMoveQuerySchema,
        response: { 200: pageSchema(vipMoveViewSchema), ...errorAnswers },
      },
    },
    async (request) => {
      const { address = null, after, limit } = request.query;
      const before = after === undefined ? null : Number(after);
      const moves = await vipMoves({ address, after: before, limit: limit + 1 });
      const page = moves.slice(0, limit);
      const items = page.map(({ site, address: moved, from, to, at }) => ({ site, address: moved, from, to, at: isoTime(at) }));
      return { items, next: moves.length > limit ? String(page.at(-1)?.number ?? "") : null };
    },
  );
}

function createRoute(api: ApiServer, ports: ApiPorts): void {
  const { ledger } = ports;
  const made = { 200: allocatedViewSchema, 201: allocatedViewSchema, ...errorAnswers };
  api.post(
    `${API_ROOT}/vips`,
    {
      schema: {
        tags,
        summary: "Give an address to several machines together",
        body: vipCreateSchema,
        ...changeParts,
        response: made,
      },
    },
    async (request, reply) => {
      const order = { kind: "vip" as const, ...request.body };
      const { allocation, created, warnings } = acceptedValue(await ledger.allocate(order, askerFrom(request)));
      markChange(request, reply, allocationTag(allocation));
      const answer = { allocation: viewAllocation(ports)(allocation), created, ...warned(warnings) };
      return reply.code(createdStatus(request, created)).send(answer);
    },
  );
}

/** Who owns a VIP is the ledger's to say; who holds it now is what racks see. */
function ownerRoutes(api: ApiServer, ports: ApiPorts): void {
  const { ledger } = ports;
  const response = { 200: allocationViewSchema, ...errorAnswers };
  const params = referenceParameters;
  api.post(
    `${API_ROOT}/vips/:ref/owners`,
    {
      schema: {
        tags,
        summary: "Add an owner; the VIP by id, address, name or key",
        params,
        body: vipOwnerSchema,
        ...changeParts,
        response,
      },
    },
    async (request, reply) => {
      const membership = { vip: request.params.ref, machine: request.body.machine };
      const allocation = acceptedValue(await ledger.addVipOwner(membership, askerFrom(request)));
      markChange(request, reply, allocationTag(allocation));
      return viewAllocation(ports)(allocation);
    },
  );
  api.delete(
    `${API_ROOT}/vips/:ref/owners/:machine`,
    {
      schema: {
        tags,
        summary: "Take an owner away; the last one frees the address",
        params: ownerParameters,
        ...changeParts,
        response,
      },
    },
    async (request, reply) => {
      const membership = { vip: request.params.ref, machine: request.params.machine };
      const allocation = acceptedValue(await ledger.removeVipOwner(membership, askerFrom(request)));
      markChange(request, reply, allocation.owners.length === 0 ? null : allocationTag(allocation));
      return viewAllocation(ports)(allocation);
    },
  );
}
