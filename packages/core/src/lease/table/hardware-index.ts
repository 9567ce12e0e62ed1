import { hardwareText } from "../hardware-of.js";
import { textOf } from "./lease4-view.js";
import { COLUMN_HASH, COLUMN_NEXT, COLUMN_PREVIOUS, type Lease4Rows, ROW_WORDS } from "./lease4-rows.js";

const START_BUCKETS = 256;

/** Hardware address -> rows, as chains through the rows themselves: eight bytes a lease, whatever the number of leases of one address. */
export class HardwareIndex {
  readonly #table: Lease4Rows;
  #heads = new Int32Array(START_BUCKETS);
  #indexed = 0;

  constructor(table: Lease4Rows) {
    this.#table = table;
  }

  /** Brings one row up to date. */
  update(row: number): void {
    const text = hardwareText(textOf(this.#table, row).hardware);
    const hash = text === null ? 0 : hashOf(text);
    const at = row * ROW_WORDS + COLUMN_HASH;
    if (this.#table.rows[at] === hash) return;
    this.#unlink(row);
    if (hash !== 0 && ++this.#indexed > this.#heads.length) this.#grow();
    this.#table.rows[at] = hash;
    if (hash !== 0) this.#chain(row);
  }

  /** Rows of this address, the lowest first. */
  rowsOf(hardwareAddress: string): number[] {
    const hash = hashOf(hardwareAddress);
    const { rows } = this.#table;
    const found: number[] = [];
    for (let row = this.#headOf(hash) - 1; row >= 0; row = (rows[row * ROW_WORDS + COLUMN_NEXT] ?? 0) - 1) {
      if (rows[row * ROW_WORDS + COLUMN_HASH] !== hash) continue;
      if (hardwareText(textOf(this.#table, row).hardware) === hardwareAddress) found.push(row);
    }
    return found.sort((a, b) => a - b);
  }

  #headOf(hash: number): number {
    return this.#heads[hash & (this.#heads.length - 1)] ?? 0;
  }

  #chain(row: number): void {
    const { rows } = this.#table;
    const bucket = (rows[row * ROW_WORDS + COLUMN_HASH] ?? 0) & (this.#heads.length - 1);
    const head = this.#heads[bucket] ?? 0;
    rows[row * ROW_WORDS + COLUMN_NEXT] = head;
    rows[row * ROW_WORDS + COLUMN_PREVIOUS] = 0;
    if (head > 0) rows[(head - 1) * ROW_WORDS + COLUMN_PREVIOUS] = row + 1;
    this.#heads[bucket] = row + 1;
  }

  #unlink(row: number): void {
    const { rows } = this.#table;
    const base = row * ROW_WORDS;
    const hash = rows[base + COLUMN_HASH] ?? 0;
    if (hash === 0) return;
    const next = rows[base + COLUMN_NEXT] ?? 0;
    const previous = rows[base + COLUMN_PREVIOUS] ?? 0;
    if (previous > 0) rows[(previous - 1) * ROW_WORDS + COLUMN_NEXT] = next;
    else this.#heads[hash & (this.#heads.length - 1)] = next;
    if (next > 0) rows[(next - 1) * ROW_WORDS + COLUMN_PREVIOUS] = previous;
    rows[base + COLUMN_HASH] = 0;
    this.#indexed--;
  }

  #grow(): void {
    this.#heads = new Int32Array(this.#heads.length * 4);
    const { rows, count } = this.#table;
    for (let row = 0; row < count; row++) if ((rows[row * ROW_WORDS + COLUMN_HASH] ?? 0) !== 0) this.#chain(row);
  }
}

/** FNV-1a, never 0: 0 is "not indexed". */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash === 0 ? 1 : hash;
}
