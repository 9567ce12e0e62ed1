import type { ApiTokenRecord, ApiTokenStore } from "./api-token-store.js";
import type { SqliteConnection } from "./sqlite-connection.js";
import type { Tables } from "./tables.js";

export function sqliteApiTokens(connection: SqliteConnection): ApiTokenStore {
  const { query } = connection;
  return {
    list: () =>
      new Promise((resolve) => {
        resolve(connection.all(query.selectFrom("api_token").selectAll().orderBy("name")).map(apiTokenFromRow));
      }),
    add: (token) =>
      new Promise((resolve) => {
        connection.transaction(() => connection.insert("api_token", [apiTokenRow(token)]));
        resolve();
      }),
    remove: (id) =>
      new Promise((resolve) => {
        connection.transaction(() => connection.run(query.deleteFrom("api_token").where("id", "=", id)));
        resolve();
      }),
  };
}

export function apiTokenRow({ createdAt, createdBy, digest, expiresAt, id, name, role }: ApiTokenRecord): Tables["api_token"] {
  return { id, name, role, digest, created_at: createdAt, created_by: createdBy, expires_at: expiresAt };
}

export function apiTokenFromRow(row: Tables["api_token"]): ApiTokenRecord {
  const { created_at: createdAt, created_by: createdBy, digest, expires_at: expiresAt, id, name, role } = row;
  return { id, name, role, digest, createdAt, createdBy, expiresAt };
}
