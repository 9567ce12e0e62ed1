import { API_ROOT, importSchema, importedViewSchema, type ImportedMachine } from "@berth/core";
import type { Enrolled } from "../../ledger/ledger.js";
import { acceptedValue } from "../answer-errors.js";
import { actorOf } from "../authenticate.js";
import type { ApiPorts } from "../ports.js";
import { errorAnswers, type ApiServer } from "./api-server.js";

/** Every machine of the largest import with all it can name. */
const BODY_BYTES_MAX = 32 * 1024 * 1024;

export function importRoutes(api: ApiServer, { ledger }: ApiPorts): void {
  api.post(
    `${API_ROOT}/machines/import`,
    {
      bodyLimit: BODY_BYTES_MAX,
      schema: {
        tags: ["machines"],
        summary: "Give many machines their static addresses and names: all of them or none",
        body: importSchema,
        response: { 200: importedViewSchema, ...errorAnswers },
      },
    },
    async (request) => {
      const { dryRun, machines } = request.body;
      const enrolled = acceptedValue(await ledger.enrollAll(machines, { actor: actorOf(request), dryRun }));
      const prefixes = new Map(ledger.subnets().map(({ id, prefix }) => [id, prefix]));
      const created = enrolled.filter((machine) => machine.created).length;
      return {
        machines: enrolled.map((one) => viewImported(one, prefixes)),
        created,
        unchanged: enrolled.length - created,
        dryRun,
      };
    },
  );
}

function viewImported({ allocation, created, machine }: Enrolled, prefixes: ReadonlyMap<number, string>): ImportedMachine {
  const { address, name, nics, subnetId } = allocation;
  return { machineId: machine.id, nics: [...nics], address, name, subnet: prefixes.get(subnetId) ?? "", created };
}
