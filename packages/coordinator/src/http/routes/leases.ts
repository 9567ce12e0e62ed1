import { API_ROOT, leaseQuerySchema, leaseViewSchema, nicOwners, pageSchema, searchLeases } from "@berth/core";
import type { ApiPorts } from "../ports.js";
import { findRack } from "./racks.js";
import { errorAnswers, type ApiServer } from "./api-server.js";

export function leaseRoutes(api: ApiServer, ports: ApiPorts): void {
  const { clock, ledger, racks } = ports;
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
      const { rack } = request.query;
      if (rack !== undefined) findRack(ports, rack); // a wrong name must not look like a rack without leases
      const owners = nicOwners(ledger.machines());
      return searchLeases(racks(), request.query, { nowMs: clock.now(), machineOf: (nic) => owners.get(nic)?.id ?? null });
    },
  );
}
