import {
  API_ROOT,
  pageOf,
  pageQuerySchema,
  pageSchema,
  rackApiViewSchema,
  type RackApiView,
  viewRack,
  type RackView,
} from "@berth/core";
import { acceptedValue } from "../answer-errors.js";
import { ApiRefusal } from "../api-refusal.js";
import type { ApiPorts } from "../ports.js";
import { errorAnswers, referenceParameters, type ApiServer } from "./api-server.js";

const tags = ["racks"];
const RACK = `${API_ROOT}/racks/:ref`;

export function rackRoutes(api: ApiServer, ports: ApiPorts): void {
  const view = (rack: RackView): RackApiView =>
    viewRack(rack, {
      desired: ports.planner.desiredFor(rack.id),
      topology: ports.topology(),
      subnets: ports.ledger.subnets(),
      nowMs: ports.clock.now(),
    });

  api.get(
    `${API_ROOT}/racks`,
    {
      schema: {
        tags,
        summary: "List",
        querystring: pageQuerySchema,
        response: { 200: pageSchema(rackApiViewSchema), ...errorAnswers },
      },
    },
    (request) => {
      const page = pageOf(ports.racks(), ({ id, name }) => `${name} ${id}`, request.query);
      return { items: page.items.map(view), next: page.next };
    },
  );
  api.get(
    RACK,
    {
      schema: {
        tags,
        summary: "Show, by id or name",
        params: referenceParameters,
        response: { 200: rackApiViewSchema, ...errorAnswers },
      },
    },
    (request) => view(findRack(ports, request.params.ref)),
  );
  api.delete(
    RACK,
    {
      config: { role: "admin" },
      schema: { tags, summary: "Forget it", params: referenceParameters, response: { 200: rackApiViewSchema, ...errorAnswers } },
    },
    async (request) => {
      const rack = findRack(ports, request.params.ref);
      const before = view(rack);
      acceptedValue(await ports.removeRack(rack.id));
      return before;
    },
  );
}

/** By id or name. Throws the refusal of an unknown one. */
export function findRack({ racks }: Pick<ApiPorts, "racks">, reference: string): RackView {
  const all = racks();
  const rack = all.find(({ id }) => id === reference) ?? all.find(({ name }) => name === reference);
  if (rack !== undefined) return rack;
  throw new ApiRefusal(404, [
    { code: "rack-unknown", at: reference, message: "no such rack has joined", remedy: "see 'berth rack list'" },
  ]);
}
