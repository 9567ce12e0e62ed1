import { RowIndex } from "../../packed/row-index.js";
import { RowTable, type RowCodec } from "../../packed/row-table.js";
import { textHash } from "../../packed/text-hash.js";

/** Records of one table by a text that each of them carries, in the order in which their rows lie. */
export interface Lookup<Key, T> {
  readonly size: number;
  /** The one that carries it. */
  get(key: Key): T | undefined;
  /** All that carry it. */
  of(key: Key): readonly T[];
}

interface Index<T> {
  readonly rows: RowIndex<string>;
  readonly keysOf: (record: T) => readonly string[];
}

/** Records by id, held packed, with indexes by other texts. Each `get` makes its object anew, so only its content tells whether it is the same. */
export class RecordTable<T extends { readonly id: string }> {
  private readonly rows: RowTable<T>;
  private readonly byId: RowIndex<string>;
  private readonly indexes: Index<T>[] = [];

  constructor(codec: RowCodec<T>) {
    this.rows = new RowTable(codec);
    // Every row begins with its id.
    this.byId = new RowIndex(textHash, (row, id) => this.rows.readerAt(row).id() === id);
  }

  get size(): number {
    return this.rows.size;
  }

  has(id: string): boolean {
    return this.byId.find(id) >= 0;
  }

  get(id: string): T | undefined {
    const row = this.byId.find(id);
    return row < 0 ? undefined : this.rows.get(row);
  }

  /** All of them; may be gone through slowly: each is as it is when it is reached. */
  *values(): Iterable<T> {
    for (const row of this.rows.rows()) yield this.rows.get(row);
  }

  at(row: number): T {
    return this.rows.get(row);
  }

  readerAt(row: number): ReturnType<RowTable<T>["readerAt"]> {
    return this.rows.readerAt(row);
  }

  /** The table must be empty still. */
  indexBy<Key extends string>(keysOf: (record: T) => readonly Key[]): Lookup<Key, T> {
    const rows = new RowIndex<string>(textHash, (row, key) => keysOf(this.at(row)).includes(key as Key));
    this.indexes.push({ rows, keysOf });
    return {
      get size() {
        return rows.size;
      },
      get: (key) => {
        const row = rows.find(key);
        return row < 0 ? undefined : this.at(row);
      },
      of: (key) => ascending(rows.all(key)).map((row) => this.at(row)),
    };
  }

  /** In place of what has this id, if anything does. Answers the row. */
  set(record: T): number {
    this.delete(record.id);
    const row = this.rows.add(record);
    this.byId.add(record.id, row);
    for (const { keysOf, rows } of this.indexes) for (const key of distinct(keysOf(record))) rows.add(key, row);
    return row;
  }

  /** Answers the row that it had; -1 when there was none. */
  delete(id: string): number {
    const row = this.byId.find(id);
    if (row < 0) return -1;
    const record = this.at(row);
    for (const { keysOf, rows } of this.indexes) for (const key of distinct(keysOf(record))) rows.remove(key, row);
    this.byId.remove(id, row);
    this.rows.remove(row);
    return row;
  }
}

/** The usual record carries one key, for which no set is made. */
function distinct(keys: readonly string[]): Iterable<string> {
  return keys.length < 2 ? keys : new Set(keys);
}

export function ascending(rows: number[]): number[] {
  return rows.length < 2 ? rows : rows.sort((a, b) => a - b);
}
