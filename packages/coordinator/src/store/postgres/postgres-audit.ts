import { AUDIT_LIST_MAX, auditRow } from "../sqlite-audit.js";
import type { AuditStore } from "../store.js";
import type { PostgresDatabase } from "./postgres-database.js";

export function postgresAudit(database: PostgresDatabase): AuditStore {
  return {
    append: async (entry) => {
      await database.write((query) => query.insertInto("audit").values(auditRow(entry)).execute(), "once");
    },
    list: async (after, limit) => {
      const rows = await database.read((query) =>
        query
          .selectFrom("audit")
          .selectAll()
          .where("number", ">", after)
          .orderBy("number")
          .limit(Math.min(limit, AUDIT_LIST_MAX))
          .execute(),
      );
      return rows.map((row) => ({ ...row, detail: JSON.parse(row.detail) as unknown }));
    },
  };
}
