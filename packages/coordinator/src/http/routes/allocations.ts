import {
  API_ROOT,
  addressSortKey,
  allocationQuerySchema,
  allocationViewSchema,
  isoTime,
  pageOf,
  pageSchema,
  type Allocation,
  type AllocationView,
} from "@berth/core";
import type { Ledger } from "../../ledger/ledger.js";
import type { ApiPorts } from "../ports.js";
import { errorAnswers, type ApiServer } from "./api-server.js";
import { findSubnet } from "./subnets.js";

export function allocationRoutes(api: ApiServer, { ledger }: ApiPorts): void {
  api.get(
    `${API_ROOT}/allocations`,
    {
      schema: {
        tags: ["allocations"],
        summary: "List",
        querystring: allocationQuerySchema,
        response: { 200: pageSchema(allocationViewSchema), ...errorAnswers },
      },
    },
    (request) => {
      const { machine, subnet } = request.query;
      const subnetId = subnet === undefined ? null : findSubnet(ledger, subnet).id;
      const found = ledger
        .allocations()
        .filter((allocation) => subnetId === null || allocation.subnetId === subnetId)
        .filter(({ machineId, owners }) => machine === undefined || machineId === machine || owners.includes(machine));
      const page = pageOf(found, ({ address, id }) => `${addressSortKey(address)} ${id}`, request.query);
      return { items: page.items.map(viewAllocation(ledger)), next: page.next };
    },
  );
}

/** Makes the API's form of an allocation, with the prefix of its subnet. */
export function viewAllocation(ledger: Ledger): (allocation: Allocation) => AllocationView {
  const prefixes = new Map(ledger.subnets().map(({ id, prefix }) => [id, prefix]));
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
    createdAt: isoTime(allocation.createdAt),
  });
}
