import { PAGE_ITEMS_MAX } from "@berth/core";
import type { Insertable, Selectable } from "kysely";
import type { SqliteConnection } from "./sqlite-connection.js";
import type { AuditEntry, AuditRecord, AuditStore } from "./store.js";
import type { Tables } from "./tables.js";

/** A page of the API, and one entry more that says whether another follows. */
export const AUDIT_LIST_MAX = PAGE_ITEMS_MAX + 1;

export function auditRow(entry: AuditEntry): Insertable<Tables["audit"]> {
  const { at, actor, action, subject } = entry;
  return { at, actor, action, subject, detail: JSON.stringify(entry.detail ?? null) };
}

export function auditFromRow(row: Selectable<Tables["audit"]>): AuditRecord {
  return { ...row, detail: JSON.parse(row.detail) as unknown };
}

export function sqliteAudit(connection: SqliteConnection): AuditStore {
  const { query } = connection;
  return {
    append: (entry) =>
      new Promise((resolve) => {
        connection.transaction(() => connection.run(query.insertInto("audit").values(auditRow(entry))));
        resolve();
      }),
    list: (after, limit) =>
      new Promise((resolve) => {
        const newer = query.selectFrom("audit").selectAll().where("number", ">", after).orderBy("number");
        const rows = connection.all(newer.limit(Math.min(limit, AUDIT_LIST_MAX)));
        resolve(rows.map(auditFromRow));
      }),
    newest: ({ before, actor, action, limit }) =>
      new Promise((resolve) => {
        let newest = query.selectFrom("audit").selectAll().orderBy("number", "desc").limit(Math.min(limit, AUDIT_LIST_MAX));
        if (before !== null) newest = newest.where("number", "<", before);
        if (actor !== null) newest = newest.where("actor", "=", actor);
        if (action !== null) newest = newest.where("action", "=", action);
        resolve(connection.all(newest).map(auditFromRow));
      }),
  };
}
