import { isoTime, type Notice } from "@berth/core";
import type { AuditEntry, AuditStore } from "../store/store.js";

/** Changes that one notice spells out; an import has as many as it has machines. */
const CHANGES_MAX = 50;

/** The number of the newest entry, 0 for none: halving, because the log can only be read forwards. */
export async function lastAuditNumber(audit: AuditStore): Promise<number> {
  const isAfter = async (number: number): Promise<boolean> => (await audit.list(number, 1)).length > 0;
  let high = 1;
  while (await isAfter(high)) high *= 2;
  let low = 0;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (await isAfter(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function auditNotice({ action, actor, at, detail, number, subject }: AuditEntry & { readonly number: number }): Notice {
  return { id: `audit-${number}`, type: action, at: isoTime(at), actor, subject, detail: shortened(detail) };
}

function shortened(detail: unknown): unknown {
  if (!Array.isArray(detail)) return detail;
  const more = Math.max(0, detail.length - CHANGES_MAX);
  return { changes: detail.slice(0, CHANGES_MAX) as unknown[], ...(more === 0 ? {} : { more }) };
}
