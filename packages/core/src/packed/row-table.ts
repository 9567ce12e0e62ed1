import { assert } from "../problem.js";
import { OctetArena } from "./octet-arena.js";
import { OctetReader } from "./octet-reader.js";
import { OctetWriter } from "./octet-writer.js";

/** How a record becomes octets and comes back equal. */
export interface RowCodec<T> {
  write(record: T, to: OctetWriter): void;
  read(from: OctetReader): T;
}

const CHUNK_BITS = 14;
const CHUNK = 1 << CHUNK_BITS;
const NO_ROW = 0xffffffff;
/** Free places are given up for good when they are more than the rows, and so many that it pays. */
const WASTE_MIN = 1 << 20;

const writer = new OctetWriter();
const reader = new OctetReader();

/**
 * Records as octets, by a row number that stays while the record is there and is used again after it. Objects are made only when one is asked for,
 * anew each time.
 */
export class RowTable<T> {
  private readonly codec: RowCodec<T>;
  private arena = new OctetArena();
  /** Places of the rows in the arena, in chunks, so that growing copies nothing. */
  private readonly places: Uint32Array[] = [];
  private readonly freeRows: number[] = [];
  private rowsEver = 0;

  constructor(codec: RowCodec<T>) {
    this.codec = codec;
  }

  get size(): number {
    return this.rowsEver - this.freeRows.length;
  }

  get(row: number): T {
    return this.codec.read(this.readerAt(row));
  }

  /** At the beginning of the row, for whoever wants only what stands there. Good until the next row is read. */
  readerAt(row: number): OctetReader {
    const place = this.placeOf(row);
    assert(place !== NO_ROW, `no row ${row}`);
    return reader.start(this.arena.pageOf(place), this.arena.offsetOf(place));
  }

  add(record: T): number {
    const row = this.freeRows.pop() ?? this.rowsEver++;
    if (row >>> CHUNK_BITS === this.places.length) this.places.push(new Uint32Array(CHUNK).fill(NO_ROW));
    this.setPlace(row, this.arena.put(this.octetsOf(record)));
    return row;
  }

  remove(row: number): void {
    this.arena.remove(this.placeOf(row), this.octetsAt(row).length);
    this.setPlace(row, NO_ROW);
    this.freeRows.push(row);
    const { free, used } = this.arena.usage;
    if (free > used && free > WASTE_MIN) this.compact();
  }

  /** The rows that are there, ascending. May be gone through slowly: each is looked at when it is reached. */
  *rows(): Iterable<number> {
    for (let row = 0; row < this.rowsEver; row++) if (this.placeOf(row) !== NO_ROW) yield row;
  }

  /** What the row was written as, whatever it would be written as now. */
  private octetsAt(row: number): Uint8Array {
    this.get(row);
    return reader.seen;
  }

  private octetsOf(record: T): Uint8Array {
    writer.restart();
    this.codec.write(record, writer);
    return writer.written;
  }

  private compact(): void {
    const arena = new OctetArena();
    for (const row of this.rows()) this.setPlace(row, arena.put(this.octetsAt(row)));
    this.arena = arena;
  }

  private placeOf(row: number): number {
    return this.places[row >>> CHUNK_BITS]?.[row & (CHUNK - 1)] ?? NO_ROW;
  }

  private setPlace(row: number, place: number): void {
    const chunk = this.places[row >>> CHUNK_BITS];
    if (chunk !== undefined) chunk[row & (CHUNK - 1)] = place;
  }
}
