import type { ApiTokenStore } from "../api-token-store.js";
import { apiTokenFromRow, apiTokenRow } from "../sqlite-api-tokens.js";
import type { PostgresDatabase } from "./postgres-database.js";

export function postgresApiTokens(database: PostgresDatabase): ApiTokenStore {
  return {
    list: async () => {
      const rows = await database.read((query) => query.selectFrom("api_token").selectAll().orderBy("name").execute());
      return rows.map(apiTokenFromRow);
    },
    add: async (token) => {
      await database.write((query) => query.insertInto("api_token").values(apiTokenRow(token)).execute(), "once");
    },
    remove: async (id) => {
      await database.write((query) => query.deleteFrom("api_token").where("id", "=", id).execute());
    },
  };
}
