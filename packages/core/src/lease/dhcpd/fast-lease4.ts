import type { DhcpdTable } from "../table/dhcpd-table.js";

export class FastLease4 {
  lines = 0;
  readonly #table: DhcpdTable;
  constructor(table: DhcpdTable) {
    this.#table = table;
  }
  use(_bytes: Uint8Array): void {
    this.lines = 0;
  }
  block(_at: number, _end: number): number {
    return this.#table.size < 0 ? 0 : -1;
  }
}
