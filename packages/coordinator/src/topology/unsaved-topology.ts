import { addressKey, storeRack, type AddressFacts, type IpAddress, type Topology, type TopologyRack } from "@berth/core";
import type { TopologyChange, VipMoveRecord } from "../store/store.js";

/** What has become of a topology since it was last saved. */
export class UnsavedTopology {
  readonly #racks = new Set<string>();
  readonly #addresses = new Map<string, { readonly site: string; readonly address: IpAddress }>();
  readonly #moves: VipMoveRecord[] = [];

  get isEmpty(): boolean {
    return this.#racks.size === 0 && this.#addresses.size === 0 && this.#moves.length === 0;
  }

  /** Notes what one rack's step changed: its own part, and the addresses that it has, had or gave up. */
  noteRack(before: Topology, after: Topology, rack: string): void {
    const [old, next] = [before.racks.get(rack), after.racks.get(rack)];
    if (old !== next && !isSavedAlike(old, next)) this.#racks.add(rack);
    for (const facts of [old, next]) {
      if (facts === undefined) continue;
      const { site } = facts.report;
      for (const address of [...facts.held.keys(), ...facts.left]) {
        const key = addressKey(site, address);
        if (before.addresses.get(key) !== after.addresses.get(key)) this.#addresses.set(key, { site, address });
      }
    }
  }

  noteMove(move: VipMoveRecord): void {
    this.#moves.push(move);
  }

  /** Takes back what could not be saved; it is older than what was noted here. */
  takeBack(older: UnsavedTopology): void {
    for (const id of older.#racks) this.#racks.add(id);
    for (const [key, named] of older.#addresses) this.#addresses.set(key, named);
    this.#moves.unshift(...older.#moves);
  }

  /** All of it, as the topology is now. */
  changeOf(topology: Topology, seenAt: number): TopologyChange {
    const racks = [...this.#racks].map((id) => [id, topology.racks.get(id)] as const);
    const addresses = [...this.#addresses].map(([key, named]) => [named, topology.addresses.get(key)] as const);
    return {
      racks: racks.flatMap(([, facts]) => (facts === undefined ? [] : [storeRack(facts)])),
      goneRacks: racks.flatMap(([id, facts]) => (facts === undefined ? [id] : [])),
      addresses: addresses.flatMap(([, facts]): AddressFacts[] => (facts === undefined ? [] : [facts])),
      goneAddresses: addresses.flatMap(([named, facts]) => (facts === undefined ? [named] : [])),
      moves: [...this.#moves],
      seenAt,
    };
  }
}

/** Racks report neighbours that come and go; when the last report came is not worth a write. */
function isSavedAlike(old: TopologyRack | undefined, next: TopologyRack | undefined): boolean {
  if (old === undefined || next === undefined) return false;
  return JSON.stringify({ ...storeRack(old), reportedAt: 0 }) === JSON.stringify({ ...storeRack(next), reportedAt: 0 });
}
