import { fastify, type FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { answerErrors, refuseUrl } from "./answer-errors.js";
import { authenticate } from "./authenticate.js";
import { describeRoutes } from "./openapi.js";
import type { ApiPorts } from "./ports.js";
import { allocationRoutes } from "./routes/allocations.js";
import { auditRoutes } from "./routes/audit.js";
import { eventRoutes } from "./routes/events.js";
import { apiTokenRoutes } from "./routes/api-tokens.js";
import { importRoutes } from "./routes/import.js";
import { leaseRoutes } from "./routes/leases.js";
import { machineRoutes } from "./routes/machines.js";
import { nameRoutes } from "./routes/names.js";
import { networkRoutes } from "./routes/networks.js";
import { problemRoutes } from "./routes/problems.js";
import { rackRoutes } from "./routes/racks.js";
import { reservationRoutes } from "./routes/reservations.js";
import { subnetRoutes } from "./routes/subnets.js";
import { subnetServerRoutes } from "./routes/subnet-servers.js";
import { systemRoutes } from "./routes/system.js";
import { tokenRoutes } from "./routes/tokens.js";
import { vipRoutes } from "./routes/vips.js";
import { serializeAnswers } from "./serialize-answer.js";
import { validateRequest } from "./validate-request.js";

const BODY_BYTES_MAX = 256 * 1024;
/** A domain name is the longest reference in a path. */
const PARAMETER_CHARACTERS_MAX = 300;

/** Builds the HTTP API; it listens nowhere until {@link listenApi} is given it. */
export async function createApi(ports: ApiPorts): Promise<FastifyInstance> {
  const api = fastify({
    bodyLimit: BODY_BYTES_MAX,
    routerOptions: { maxParamLength: PARAMETER_CHARACTERS_MAX },
    // A request that fails is answered and, where it is our fault, logged by the error handler; a log line a request would be noise.
    logger: false,
    frameworkErrors: (error, request, reply) => {
      refuseUrl(request.url, reply, error);
    },
  });
  api.setValidatorCompiler(validateRequest);
  api.setSerializerCompiler(serializeAnswers(ports.checkAnswers ?? false));
  answerErrors(api, ports.log);
  authenticate(api, ports.auth);
  await describeRoutes(api, ports.version);
  const typed = api.withTypeProvider<ZodTypeProvider>();
  for (const routes of [
    systemRoutes,
    subnetRoutes,
    subnetServerRoutes,
    machineRoutes,
    importRoutes,
    allocationRoutes,
    leaseRoutes,
    rackRoutes,
    networkRoutes,
    vipRoutes,
    nameRoutes,
    reservationRoutes,
    tokenRoutes,
    apiTokenRoutes,
    problemRoutes,
    auditRoutes,
    eventRoutes,
  ])
    routes(typed, ports);
  await api.ready();
  return api;
}
