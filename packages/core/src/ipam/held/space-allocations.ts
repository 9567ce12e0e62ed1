import type { IpAddress } from "../../address/ip.js";
import { RowIndex } from "../../packed/row-index.js";
import { textHash } from "../../packed/text-hash.js";
import type { Allocation } from "../model.js";
import type { HeldAllocations } from "./held-allocations.js";
import { ascending } from "./record-table.js";

/** The allocations of one subnet by address. */
export class SpaceAllocations {
  private readonly held: HeldAllocations;
  private readonly rows: RowIndex<IpAddress>;

  constructor(held: HeldAllocations) {
    this.held = held;
    this.rows = new RowIndex(textHash, (row, address) => held.addressAt(row) === address);
  }

  get size(): number {
    return this.rows.size;
  }

  has(address: IpAddress): boolean {
    return this.rows.find(address) >= 0;
  }

  get(address: IpAddress): Allocation | undefined {
    const row = this.rows.find(address);
    return row < 0 ? undefined : this.held.table.at(row);
  }

  *values(): Iterable<Allocation> {
    for (const row of ascending([...this.rows.rows()])) yield this.held.table.at(row);
  }

  *addresses(): Iterable<IpAddress> {
    for (const row of this.rows.rows()) yield this.held.addressAt(row);
  }

  add(address: IpAddress, row: number): void {
    this.rows.add(address, row);
  }

  remove(address: IpAddress, row: number): void {
    this.rows.remove(address, row);
  }
}
