import { API_ROOT, leaseQuerySchema, leaseViewSchema, nicOwners, pageSchema, searchLeases } from "@berth/core";
import type { ApiPorts } from "../ports.js";
import { errorAnswers, type ApiServer } from "./api-server.js";

export function leaseRoutes(api: ApiServer, { clock, ledger, racks }: ApiPorts): void {
  api.get(
    `${API_ROOT}/leases`,
    {
      schema: {
        tags: ["leases"],
        summary: "Search what the racks' DHCP servers have leased",
        querystring: leaseQuerySchema,
        response: { 200: pageSchema(leaseViewSchema), ...errorAnswers },
      },
    },
    (request) => {
      const owners = nicOwners(ledger.machines());
      return searchLeases(racks(), request.query, { nowMs: clock.now(), machineOf: (nic) => owners.get(nic)?.id ?? null });
    },
  );
}
