import type { FastifyInstance, RawServerDefault } from "fastify";
import type { FastifyBaseLogger } from "fastify";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import { apiErrorSchema, changeHeadersSchema, changeQuerySchema } from "@berth/core";

/** The Fastify instance whose routes take and answer what their zod schemas say. */
export type ApiServer = FastifyInstance<RawServerDefault, IncomingMessage, ServerResponse, FastifyBaseLogger, ZodTypeProvider>;

/** How every route may refuse; for the description, since the error handler makes these bodies itself. */
export const errorAnswers = {
  "4xx": { description: "Refused", content: { "application/problem+json": { schema: apiErrorSchema } } },
  "5xx": { description: "Failed", content: { "application/problem+json": { schema: apiErrorSchema } } },
} as const;

/** What every change of the ledger takes beside its body. */
export const changeParts = { querystring: changeQuerySchema, headers: changeHeadersSchema } as const;

/** The last part of a path that names one thing. */
export const referenceParameters = z.strictObject({ ref: z.string().min(1).max(300) });
