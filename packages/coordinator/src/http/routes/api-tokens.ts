import {
  API_ROOT,
  apiTokenCreateSchema,
  apiTokenViewSchema,
  createdApiTokenViewSchema,
  pageOf,
  pageQuerySchema,
  pageSchema,
} from "@berth/core";
import { acceptedValue } from "../answer-errors.js";
import { actorOf } from "../authenticate.js";
import type { ApiPorts } from "../ports.js";
import { errorAnswers, referenceParameters, type ApiServer } from "./api-server.js";

const tags = ["api-tokens"];
const PATH = `${API_ROOT}/api-tokens`;
/** Who may make tokens may make any, so even to see them takes the role of an administrator. */
const config = { role: "admin" as const };

export function apiTokenRoutes(api: ApiServer, { apiTokens }: ApiPorts): void {
  api.get(
    PATH,
    {
      config,
      schema: {
        tags,
        summary: "List",
        querystring: pageQuerySchema,
        response: { 200: pageSchema(apiTokenViewSchema), ...errorAnswers },
      },
    },
    (request) => pageOf(apiTokens.list(), ({ name }) => name, request.query),
  );
  api.post(
    PATH,
    {
      config,
      schema: {
        tags,
        summary: "Make a token; it is shown once",
        body: apiTokenCreateSchema,
        response: { 201: createdApiTokenViewSchema, ...errorAnswers },
      },
    },
    async (request, reply) => {
      const { name, role, ttlSeconds } = request.body;
      const order = { name, role, ...(ttlSeconds === undefined ? {} : { ttlMs: ttlSeconds * 1000 }) };
      return reply.code(201).send(acceptedValue(await apiTokens.create(order, actorOf(request))));
    },
  );
  api.delete(
    `${PATH}/:ref`,
    {
      config,
      schema: {
        tags,
        summary: "Revoke, by name or id",
        params: referenceParameters,
        response: { 200: apiTokenViewSchema, ...errorAnswers },
      },
    },
    async (request) => acceptedValue(await apiTokens.revoke(request.params.ref, actorOf(request))),
  );
}
