import { API_ROOT, eventQuerySchema, parseEventCursor } from "@berth/core";
import { z } from "zod";
import { ApiRefusal } from "../api-refusal.js";
import { EventStreams } from "../event-streams.js";
import type { ApiPorts } from "../ports.js";
import { errorAnswers, type ApiServer } from "./api-server.js";

const DESCRIPTION =
  "Server-sent events: `change` for every change of the ledger, `vip-move` for every move of a virtual address. A reader that comes back with " +
  "the header Last-Event-ID gets all that it missed.";

export function eventRoutes(api: ApiServer, ports: ApiPorts): void {
  const streams = new EventStreams(ports);
  api.addHook("preClose", (done) => {
    streams.close();
    done();
  });
  const stream = { description: DESCRIPTION, content: { "text/event-stream": { schema: z.string() } } };
  api.get(
    `${API_ROOT}/events`,
    {
      schema: {
        tags: ["events"],
        summary: "Follow what happens",
        querystring: eventQuerySchema,
        response: { 200: stream, ...errorAnswers },
      },
    },
    async (request, reply) => {
      const last = request.headers["last-event-id"];
      const id = typeof last === "string" && last !== "" ? last : request.query.after;
      const from = id === undefined ? await streams.newest() : parseEventCursor(id);
      if (from === null) {
        const message = "not the id of an event";
        throw new ApiRefusal(400, [
          { code: "event-id-malformed", at: "last-event-id", message, remedy: "leave it out to begin now" },
        ]);
      }
      if (streams.full) {
        const message = "too many readers follow the events already";
        throw new ApiRefusal(503, [{ code: "events-too-many", at: "events", message, remedy: "close some of them" }]);
      }
      reply.hijack();
      streams.open(reply.raw, from);
      return reply;
    },
  );
}
