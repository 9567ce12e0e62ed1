import { isoTime, type Notice } from "@berth/core";
import type { AuditEntry, AuditStore } from "../store/store.js";

/** Changes that one notice spells out; an import has as many as it has machines. */
const CHANGES_MAX = 50;

/** The number of the newest entry, 0 for none. */
export async function lastAuditNumber(audit: Pick<AuditStore, "newest">): Promise<number> {
  const [newest] = await audit.newest({ before: null, actor: null, action: null, limit: 1 });
  return newest?.number ?? 0;
}

export function auditNotice({ action, actor, at, detail, number, subject }: AuditEntry & { readonly number: number }): Notice {
  return { id: `audit-${number}`, type: action, at: isoTime(at), actor, subject, detail: shortened(detail) };
}

function shortened(detail: unknown): unknown {
  if (!Array.isArray(detail)) return detail;
  const more = Math.max(0, detail.length - CHANGES_MAX);
  return { changes: detail.slice(0, CHANGES_MAX) as unknown[], ...(more === 0 ? {} : { more }) };
}
