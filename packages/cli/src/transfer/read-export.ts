import {
  allocationViewSchema,
  exportedMachines,
  machineViewSchema,
  subnetServersViewSchema,
  subnetViewSchema,
  type ExportedMachine,
  type MachineView,
  type ServersOf,
} from "@berth/core";
import { CliFailure, EXIT_REFUSED } from "../cli-failure.js";
import { apiPath, type ApiClient } from "../connection/api-client.js";

/** Everything of the ledger, or one subnet of it, as exports want it. */
export async function readExport(client: ApiClient, subnet: string | undefined): Promise<readonly ExportedMachine[]> {
  const [allocations, subnets] = [
    await client.list("/allocations", { subnet }, allocationViewSchema),
    await client.list("/subnets", {}, subnetViewSchema),
  ];
  return exportedMachines(allocations, subnets);
}

export interface ExportedOne {
  readonly machine: ExportedMachine;
  readonly dnsOf: ServersOf;
}

/** One machine by id, name, NIC or address, with the servers of its subnets. */
export async function readExportOne(client: ApiClient, reference: string): Promise<ExportedOne> {
  const view: MachineView = await client.call({ path: apiPath("machines", reference), answer: machineViewSchema });
  const allocations = view.id === null ? [] : await client.list("/allocations", { machine: view.id }, allocationViewSchema);
  const own = allocations.filter(({ machineId }) => machineId === view.id);
  const [machine] = exportedMachines(own, await client.list("/subnets", {}, subnetViewSchema));
  if (machine === undefined) {
    const remedy = "enroll it first";
    throw new CliFailure(EXIT_REFUSED, [
      {
        code: "machine-without-address",
        at: reference,
        message: `the machine is ${view.state} and has no static address`,
        remedy,
      },
    ]);
  }
  const servers = new Map<number, readonly string[]>();
  for (const { subnetId } of machine.addresses) {
    if (servers.has(subnetId)) continue;
    const path = apiPath("subnets", String(subnetId), "servers");
    servers.set(subnetId, (await client.call({ path, answer: subnetServersViewSchema })).dns);
  }
  return { machine, dnsOf: (subnetId) => servers.get(subnetId) ?? [] };
}
