import type { Selectable } from "kysely";
import type { SqliteConnection } from "./sqlite-connection.js";
import type { RackRecord, RackStore, SettingStore, TokenRecord, TokenStore } from "./store.js";
import type { Tables } from "./tables.js";

/** `forget` drops what is queued of a rack that goes; it resolves when nothing of it is on the way any more. */
export function sqliteRacks(connection: SqliteConnection, forget: (rackId: string) => Promise<void>): RackStore {
  const { query } = connection;
  return {
    list: () =>
      new Promise((resolve) => {
        const rows = connection.all(query.selectFrom("rack").selectAll().orderBy("joined_at").orderBy("id"));
        resolve(rows.map(rackFromRow));
      }),
    save: (rack) =>
      new Promise((resolve) => {
        const { id, ...row } = rackRow(rack);
        const upsert = query.insertInto("rack").values({ id, ...row });
        connection.transaction(() => connection.run(upsert.onConflict((conflict) => conflict.column("id").doUpdateSet(row))));
        resolve();
      }),
    remove: async (id) => {
      await forget(id);
      connection.transaction(() => {
        connection.run(query.deleteFrom("rack").where("id", "=", id));
        for (const table of ["rack_interfaces", "rack_lease", "desired", "desired_change"] as const)
          connection.run(query.deleteFrom(table).where("rack_id", "=", id));
      });
    },
  };
}

export function sqliteTokens(connection: SqliteConnection): TokenStore {
  const { query } = connection;
  return {
    list: () =>
      new Promise((resolve) => {
        resolve(connection.all(query.selectFrom("join_token").selectAll().orderBy("expires_at").orderBy("id")).map(tokenFromRow));
      }),
    save: (token) =>
      new Promise((resolve) => {
        const { id, ...row } = tokenRow(token);
        const upsert = query.insertInto("join_token").values({ id, ...row });
        connection.transaction(() => connection.run(upsert.onConflict((conflict) => conflict.column("id").doUpdateSet(row))));
        resolve();
      }),
    use: (id, usedBy, at) =>
      new Promise((resolve) => {
        const row = connection.transaction(() => {
          const unused = query.updateTable("join_token").set({ used_by: usedBy, used_at: at }).where("id", "=", id);
          connection.run(unused.where("used_by", "is", null));
          return connection.all(query.selectFrom("join_token").selectAll().where("id", "=", id))[0];
        });
        resolve(row === undefined ? null : tokenFromRow(row));
      }),
    remove: (id) =>
      new Promise((resolve) => {
        connection.transaction(() => connection.run(query.deleteFrom("join_token").where("id", "=", id)));
        resolve();
      }),
  };
}

export function sqliteSettings(connection: SqliteConnection): SettingStore {
  const { query } = connection;
  return {
    get: (name) =>
      new Promise((resolve) => {
        resolve(connection.all(query.selectFrom("setting").select("value").where("name", "=", name))[0]?.value ?? null);
      }),
    set: (name, value) =>
      new Promise((resolve) => {
        const upsert = query.insertInto("setting").values({ name, value });
        connection.transaction(() =>
          connection.run(upsert.onConflict((conflict) => conflict.column("name").doUpdateSet({ value }))),
        );
        resolve();
      }),
    claim: (name, value) =>
      new Promise((resolve) => {
        const there = connection.transaction(() => {
          const insert = query.insertInto("setting").values({ name, value });
          connection.run(insert.onConflict((conflict) => conflict.column("name").doNothing()));
          return connection.all(query.selectFrom("setting").select("value").where("name", "=", name))[0];
        });
        resolve(there?.value ?? value);
      }),
  };
}

export function rackRow(rack: RackRecord): Tables["rack"] {
  return {
    id: rack.id,
    name: rack.name,
    site: rack.site,
    joined_at: rack.joinedAt,
    certificate_serial: rack.certificateSerial,
    public_key_hash: rack.publicKeyHash,
  };
}

export function rackFromRow(row: Selectable<Tables["rack"]>): RackRecord {
  return {
    id: row.id,
    name: row.name,
    site: row.site,
    joinedAt: row.joined_at,
    certificateSerial: row.certificate_serial,
    publicKeyHash: row.public_key_hash,
  };
}

export function tokenRow(token: TokenRecord): Tables["join_token"] {
  return {
    id: token.id,
    secret_hash: token.secretHash,
    expires_at: token.expiresAt,
    rack_name: token.rackName,
    site: token.site,
    replaces: token.replaces ? 1 : 0,
    used_by: token.usedBy,
    used_at: token.usedAt,
  };
}

export function tokenFromRow(row: Selectable<Tables["join_token"]>): TokenRecord {
  return {
    id: row.id,
    secretHash: row.secret_hash,
    expiresAt: row.expires_at,
    rackName: row.rack_name,
    site: row.site,
    replaces: row.replaces !== 0,
    usedBy: row.used_by,
    usedAt: row.used_at,
  };
}
