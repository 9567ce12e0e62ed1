import type { AddressFacts, StoredRack } from "@berth/core";
import type { Transaction } from "kysely";
import { addressBlob } from "../address-blob.js";
import { moveFromRow, moveRow, SEEN_AT } from "../sqlite-topology.js";
import { VIP_MOVES_MAX, type TopologyChange, type TopologyStore } from "../store.js";
import type { Tables } from "../tables.js";
import { insertRows } from "./insert-rows.js";
import type { PostgresDatabase } from "./postgres-database.js";

export function postgresTopology(database: PostgresDatabase): TopologyStore {
  return {
    load: () =>
      database.snapshot(async (query) => {
        const racks = await query.selectFrom("topology_rack").select("facts").orderBy("rack_id").execute();
        const addresses = await query.selectFrom("topology_address").select("facts").orderBy("site").orderBy("address").execute();
        const seen = await query.selectFrom("setting").select("value").where("name", "=", SEEN_AT).executeTakeFirst();
        return {
          racks: racks.map(({ facts }) => JSON.parse(facts) as StoredRack),
          addresses: addresses.map(({ facts }) => JSON.parse(facts) as AddressFacts),
          seenAt: seen === undefined ? null : Number(seen.value),
        };
      }),
    save: (change) => database.write((query) => saveChange(query, change), change.moves.length > 0 ? "once" : "repeatable"),
    moves: async ({ address, after, limit }) => {
      const rows = await database.read((query) => {
        let found = query.selectFrom("vip_move").selectAll().orderBy("number", "desc").limit(limit);
        if (after !== null) found = found.where("number", "<", after);
        if (address !== null) found = found.where("address", "=", addressBlob(address));
        return found.execute();
      });
      return rows.map(moveFromRow);
    },
  };
}

async function saveChange(
  query: Transaction<Tables>,
  { racks, goneRacks, addresses, goneAddresses, moves, seenAt }: TopologyChange,
): Promise<void> {
  for (const rack of racks) {
    const facts = JSON.stringify(rack);
    const upsert = query.insertInto("topology_rack").values({ rack_id: rack.rack, facts });
    await upsert.onConflict((conflict) => conflict.column("rack_id").doUpdateSet({ facts })).execute();
  }
  for (const id of goneRacks) await query.deleteFrom("topology_rack").where("rack_id", "=", id).execute();
  for (const entry of addresses) {
    const facts = JSON.stringify(entry);
    const upsert = query.insertInto("topology_address").values({ site: entry.site, address: addressBlob(entry.address), facts });
    await upsert.onConflict((conflict) => conflict.columns(["site", "address"]).doUpdateSet({ facts })).execute();
  }
  for (const { site, address } of goneAddresses) {
    const gone = query.deleteFrom("topology_address").where("site", "=", site);
    await gone.where("address", "=", addressBlob(address)).execute();
  }
  await insertRows(query, "vip_move", moves.map(moveRow));
  if (moves.length > 0) await trimMoves(query);
  const value = String(seenAt);
  const upsert = query.insertInto("setting").values({ name: SEEN_AT, value });
  await upsert.onConflict((conflict) => conflict.column("name").doUpdateSet({ value })).execute();
}

async function trimMoves(query: Transaction<Tables>): Promise<void> {
  const newest = await query.selectFrom("vip_move").select("number").orderBy("number", "desc").limit(1).executeTakeFirst();
  if (newest !== undefined)
    await query
      .deleteFrom("vip_move")
      .where("number", "<=", newest.number - VIP_MOVES_MAX)
      .execute();
}
