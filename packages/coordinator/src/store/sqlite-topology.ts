import { addressFamily, type AddressFacts, type StoredRack } from "@berth/core";
import type { Insertable, Selectable } from "kysely";
import { addressBlob, addressFromBlob } from "./address-blob.js";
import type { SqliteConnection } from "./sqlite-connection.js";
import { VIP_MOVES_MAX, type TopologyChange, type TopologyStore, type VipMoveRecord } from "./store.js";
import type { Tables } from "./tables.js";

/** The setting that says up to when the region watched its racks. */
export const SEEN_AT = "topology-seen-at";

export function sqliteTopology(connection: SqliteConnection): TopologyStore {
  const { query } = connection;
  return {
    load: () =>
      new Promise((resolve) => {
        const racks = connection.all(query.selectFrom("topology_rack").select("facts").orderBy("rack_id"));
        const addresses = connection.all(query.selectFrom("topology_address").select("facts").orderBy("site").orderBy("address"));
        const [seen] = connection.all(query.selectFrom("setting").select("value").where("name", "=", SEEN_AT));
        resolve({
          racks: racks.map(({ facts }) => JSON.parse(facts) as StoredRack),
          addresses: addresses.map(({ facts }) => JSON.parse(facts) as AddressFacts),
          seenAt: seen === undefined ? null : Number(seen.value),
        });
      }),
    save: (change) =>
      new Promise((resolve) => {
        connection.transaction(() => saveChange(connection, change));
        resolve();
      }),
    moves: ({ address, after, limit }) =>
      new Promise((resolve) => {
        let rows = query.selectFrom("vip_move").selectAll().orderBy("number", "desc").limit(limit);
        if (after !== null) rows = rows.where("number", "<", after);
        if (address !== null) rows = rows.where("address", "=", addressBlob(address));
        resolve(connection.all(rows).map(moveFromRow));
      }),
  };
}

export function moveRow({ site, address, from, to, at }: VipMoveRecord): Insertable<Tables["vip_move"]> {
  return { site, address: addressBlob(address), family: addressFamily(address), from_rack: from, to_rack: to, at };
}

export function moveFromRow(row: Selectable<Tables["vip_move"]>): VipMoveRecord & { readonly number: number } {
  const { number, site, from_rack: from, to_rack: to, at } = row;
  return { number, site, address: addressFromBlob(row.address, row.family === 4 ? 4 : 6), from, to, at };
}

function saveChange(
  connection: SqliteConnection,
  { racks, goneRacks, addresses, goneAddresses, moves, seenAt }: TopologyChange,
): void {
  const { query } = connection;
  for (const rack of racks) {
    const facts = JSON.stringify(rack);
    const upsert = query.insertInto("topology_rack").values({ rack_id: rack.rack, facts });
    connection.run(upsert.onConflict((conflict) => conflict.column("rack_id").doUpdateSet({ facts })));
  }
  for (const id of goneRacks) connection.run(query.deleteFrom("topology_rack").where("rack_id", "=", id));
  for (const entry of addresses) {
    const facts = JSON.stringify(entry);
    const upsert = query.insertInto("topology_address").values({ site: entry.site, address: addressBlob(entry.address), facts });
    connection.run(upsert.onConflict((conflict) => conflict.columns(["site", "address"]).doUpdateSet({ facts })));
  }
  for (const { site, address } of goneAddresses)
    connection.run(query.deleteFrom("topology_address").where("site", "=", site).where("address", "=", addressBlob(address)));
  for (const move of moves) connection.run(query.insertInto("vip_move").values(moveRow(move)));
  if (moves.length > 0) trimMoves(connection);
  const value = String(seenAt);
  const upsert = query.insertInto("setting").values({ name: SEEN_AT, value });
  connection.run(upsert.onConflict((conflict) => conflict.column("name").doUpdateSet({ value })));
}

function trimMoves(connection: SqliteConnection): void {
  const { query } = connection;
  const [newest] = connection.all(query.selectFrom("vip_move").select("number").orderBy("number", "desc").limit(1));
  if (newest !== undefined) connection.run(query.deleteFrom("vip_move").where("number", "<=", newest.number - VIP_MOVES_MAX));
}
