import { API_ROOT, changeQuerySchema, importSchema, importedViewSchema, type ImportedMachine } from "@berth/core";
import type { Enrolled } from "../../ledger/ledger.js";
import { acceptedValue } from "../answer-errors.js";
import { askerFrom, markChange } from "../asker-from.js";
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
        summary: "Declare subnets and give many machines their static addresses and names: all of them or none",
        querystring: changeQuerySchema,
        body: importSchema,
        response: { 200: importedViewSchema, ...errorAnswers },
      },
    },
    async (request, reply) => {
      // Repeated, an import finds its machines as they are: it needs no key, and no answer of its size is kept.
      const { actor, dryRun = false } = askerFrom(request);
      const imported = acceptedValue(await ledger.importAll(request.body, { actor, dryRun }));
      const { machines: enrolled, subnets } = imported;
      markChange(request, reply, null);
      const known = [...ledger.subnets(), ...subnets.map(({ subnet }) => subnet)];
      const prefixes = new Map(known.map(({ id, prefix }) => [id, prefix]));
      const created = enrolled.filter((machine) => machine.created).length;
      return {
        subnets: subnets.map(({ created: isNew, subnet }) => ({ id: subnet.id, prefix: subnet.prefix, created: isNew })),
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
