import { API_ROOT, isoTime, tokenCreateSchema, tokenViewSchema } from "@berth/core";
import { acceptedValue } from "../answer-errors.js";
import { actorOf } from "../authenticate.js";
import type { ApiPorts } from "../ports.js";
import { errorAnswers, type ApiServer } from "./api-server.js";

export function tokenRoutes(api: ApiServer, { createToken }: ApiPorts): void {
  api.post(
    `${API_ROOT}/tokens`,
    {
      config: { role: "admin" },
      schema: {
        tags: ["tokens"],
        summary: "Make the join line for a rack",
        body: tokenCreateSchema,
        response: { 201: tokenViewSchema, ...errorAnswers },
      },
    },
    async (request, reply) => {
      const { expiresAt, joinLine } = acceptedValue(await createToken(request.body, actorOf(request)));
      return reply.code(201).send({ joinLine, rack: request.body.rack ?? null, expiresAt: isoTime(expiresAt) });
    },
  );
}
