import { API_ROOT, subnetServersViewSchema, type SubnetServersView } from "@berth/core";
import type { ApiPorts } from "../ports.js";
import { errorAnswers, referenceParameters, type ApiServer } from "./api-server.js";
import { findSubnet } from "../find-subnet.js";

export function subnetServerRoutes(api: ApiServer, { ledger, planner, racks }: ApiPorts): void {
  api.get(
    `${API_ROOT}/subnets/:ref/servers`,
    {
      schema: {
        tags: ["subnets"],
        summary: "Show the DNS and NTP servers that its machines are given",
        params: referenceParameters,
        response: { 200: subnetServersViewSchema, ...errorAnswers },
      },
    },
    (request): SubnetServersView => {
      const { dns, id, ntp } = findSubnet(ledger, request.params.ref);
      const served = racks().flatMap((rack) => planner.desiredFor(rack.id)?.subnets.filter((subnet) => subnet.id === id) ?? []);
      // Every rack of a network gives the same servers; where none serves it, only pinned ones are certain.
      return { dns: [...(served[0]?.dns ?? dns ?? [])], ntp: [...(served[0]?.ntp ?? ntp ?? [])] };
    },
  );
}
