import { API_ROOT, networkViewSchema, pageOf, pageQuerySchema, pageSchema, prefixSortKey, viewNetworks } from "@berth/core";
import type { ApiPorts } from "../ports.js";
import { errorAnswers, type ApiServer } from "./api-server.js";

export function networkRoutes(api: ApiServer, { ledger, topology }: ApiPorts): void {
  api.get(
    `${API_ROOT}/networks`,
    {
      schema: {
        tags: ["networks"],
        summary: "List what racks are on beside what is declared",
        querystring: pageQuerySchema,
        response: { 200: pageSchema(networkViewSchema), ...errorAnswers },
      },
    },
    (request) =>
      pageOf(viewNetworks(topology(), ledger.subnets()), ({ prefix, site }) => `${site} ${prefixSortKey(prefix)}`, request.query),
  );
}
