import { API_ROOT, eventQuerySchema, formatEventCursor, parseEventCursor } from "@berth/core";
import { z } from "zod";
import { ApiRefusal } from "../api-refusal.js";
import { actorOf } from "../authenticate.js";
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
      const newest = await streams.newest();
      const from = id === undefined ? newest : parseEventCursor(id);
      if (from === null) {
        const message = "not the id of an event";
        throw new ApiRefusal(400, [
          { code: "event-id-malformed", at: "last-event-id", message, remedy: "leave it out to begin now" },
        ]);
      }
      if (from.audit > newest.audit || from.move > newest.move) {
        const message = `the log of events ends before ${formatEventCursor(from)}, at ${formatEventCursor(newest)}: the region was restored from an older backup`;
        const remedy = "read the region anew, then begin without an id";
        throw new ApiRefusal(410, [{ code: "event-id-ahead", at: "last-event-id", message, remedy }]);
      }
      const principal = actorOf(request);
      if (streams.isFull(principal)) {
        const message = "too many readers follow the events already";
        throw new ApiRefusal(503, [{ code: "events-too-many", at: "events", message, remedy: "close some of them" }]);
      }
      reply.hijack();
      streams.open({ response: reply.raw, from, principal, stillMay: () => request.stillMay() });
      return reply;
    },
  );
}
