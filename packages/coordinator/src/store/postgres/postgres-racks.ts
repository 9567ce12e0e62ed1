import { rackFromRow, rackRow, tokenFromRow, tokenRow } from "../sqlite-racks.js";
import type { RackStore, SettingStore, TokenStore } from "../store.js";
import type { PostgresDatabase } from "./postgres-database.js";

/** `forget` drops what is queued of a rack that goes; it resolves when nothing of it is on the way any more. */
export function postgresRacks(database: PostgresDatabase, forget: (rackId: string) => Promise<void>): RackStore {
  return {
    list: async () => {
      const rows = await database.read((query) =>
        query.selectFrom("rack").selectAll().orderBy("joined_at").orderBy("id").execute(),
      );
      return rows.map(rackFromRow);
    },
    save: async (rack) => {
      const { id, ...row } = rackRow(rack);
      await database.write((query) =>
        query
          .insertInto("rack")
          .values({ id, ...row })
          .onConflict((conflict) => conflict.column("id").doUpdateSet(row))
          .execute(),
      );
    },
    remove: async (id) => {
      await forget(id);
      await database.write(async (query) => {
        await query.deleteFrom("rack").where("id", "=", id).execute();
        for (const table of ["rack_interfaces", "rack_lease", "desired", "desired_change"] as const)
          await query.deleteFrom(table).where("rack_id", "=", id).execute();
      });
    },
  };
}

export function postgresTokens(database: PostgresDatabase): TokenStore {
  return {
    list: async () => {
      const rows = await database.read((query) =>
        query.selectFrom("join_token").selectAll().orderBy("expires_at").orderBy("id").execute(),
      );
      return rows.map(tokenFromRow);
    },
    save: async (token) => {
      const { id, ...row } = tokenRow(token);
      await database.write((query) =>
        query
          .insertInto("join_token")
          .values({ id, ...row })
          .onConflict((conflict) => conflict.column("id").doUpdateSet(row))
          .execute(),
      );
    },
    use: async (id, usedBy, at) => {
      const row = await database.write(async (query) => {
        const unused = query.updateTable("join_token").set({ used_by: usedBy, used_at: at }).where("id", "=", id);
        await unused.where("used_by", "is", null).execute();
        return query.selectFrom("join_token").selectAll().where("id", "=", id).executeTakeFirst();
      });
      return row === undefined ? null : tokenFromRow(row);
    },
    remove: async (id) => {
      await database.write((query) => query.deleteFrom("join_token").where("id", "=", id).execute());
    },
  };
}

export function postgresSettings(database: PostgresDatabase): SettingStore {
  return {
    get: async (name) => {
      const row = await database.read((query) =>
        query.selectFrom("setting").select("value").where("name", "=", name).executeTakeFirst(),
      );
      return row?.value ?? null;
    },
    set: async (name, value) => {
      await database.write((query) =>
        query
          .insertInto("setting")
          .values({ name, value })
          .onConflict((conflict) => conflict.column("name").doUpdateSet({ value }))
          .execute(),
      );
    },
    claim: (name, value) =>
      database.write(async (query) => {
        const insert = query.insertInto("setting").values({ name, value });
        await insert.onConflict((conflict) => conflict.column("name").doNothing()).execute();
        const there = await query.selectFrom("setting").select("value").where("name", "=", name).executeTakeFirstOrThrow();
        return there.value;
      }),
  };
}
