import { API_ROOT, currentProblemSchema, pageQuerySchema, pageSchema } from "@berth/core";
import type { ApiPorts } from "../ports.js";
import { errorAnswers, type ApiServer } from "./api-server.js";

export function problemRoutes(api: ApiServer, ports: ApiPorts): void {
  api.get(
    `${API_ROOT}/problems`,
    {
      schema: {
        tags: ["problems"],
        summary: "List every problem that holds now",
        querystring: pageQuerySchema,
        response: { 200: pageSchema(currentProblemSchema), ...errorAnswers },
      },
    },
    (request) => {
      const { after, limit } = request.query;
      const problems = ports.problems();
      // Problems have no key of their own, so a page continues by position.
      const start = after === undefined ? 0 : Math.max(0, Number.parseInt(after, 10) || 0);
      const end = start + limit;
      return { items: problems.slice(start, end), next: end < problems.length ? String(end) : null };
    },
  );
}
