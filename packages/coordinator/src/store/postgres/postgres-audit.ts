import { AUDIT_LIST_MAX, auditFromRow, auditRow } from "../sqlite-audit.js";
import type { AuditStore } from "../store.js";
import type { PostgresDatabase } from "./postgres-database.js";

export function postgresAudit(database: PostgresDatabase): AuditStore {
  return {
    append: async (entry) => {
      await database.write(async (query) => {
        // Commits of the ledger hold that row, too: entries come to be seen in the order of their numbers, so that no reader passes one by.
        await query.selectFrom("ledger").select("revision").forUpdate().execute();
        await query.insertInto("audit").values(auditRow(entry)).execute();
      }, "once");
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
      return rows.map(auditFromRow);
    },
    newest: async ({ before, actor, action, limit }) => {
      const rows = await database.read((query) => {
        let newest = query.selectFrom("audit").selectAll().orderBy("number", "desc").limit(Math.min(limit, AUDIT_LIST_MAX));
        if (before !== null) newest = newest.where("number", "<", before);
        if (actor !== null) newest = newest.where("actor", "=", actor);
        if (action !== null) newest = newest.where("action", "=", action);
        return newest.execute();
      });
      return rows.map(auditFromRow);
    },
  };
}
