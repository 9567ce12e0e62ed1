import { API_ROOT, auditQuerySchema, auditViewSchema, isoTime, pageSchema, type AuditView } from "@berth/core";
import type { AuditRecord } from "../../store/store.js";
import type { ApiPorts } from "../ports.js";
import { errorAnswers, type ApiServer } from "./api-server.js";

export function auditRoutes(api: ApiServer, { audit }: ApiPorts): void {
  api.get(
    `${API_ROOT}/audit`,
    {
      schema: {
        tags: ["audit"],
        summary: "List who changed what, newest first",
        querystring: auditQuerySchema,
        response: { 200: pageSchema(auditViewSchema), ...errorAnswers },
      },
    },
    async (request) => {
      const { after, limit, actor = null, action = null } = request.query;
      const before = after === undefined ? null : Number(after);
      const found = await audit.newest({ before, actor, action, limit: limit + 1 });
      const page = found.slice(0, limit);
      return { items: page.map(viewAudit), next: found.length > limit ? String(page.at(-1)?.number ?? "") : null };
    },
  );
}

export function viewAudit({ number, at, actor, action, subject, detail }: AuditRecord): AuditView {
  return { number, at: isoTime(at), actor, action, subject, detail };
}
