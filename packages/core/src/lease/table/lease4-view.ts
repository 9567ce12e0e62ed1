import { ipv4FromNumber } from "../../address/ip.js";
import { emptyLease4Block, type Lease4Block, parseLease4Block } from "../dhcpd/lease4-block.js";
import { silentSink } from "../dhcpd/statements.js";
import { leaseTimeOf } from "../dhcpd/time-value.js";
import type { Lease4 } from "../model.js";
import {
  BITS_BOOTP,
  BITS_DAMAGED,
  BITS_NEXT_SHIFT,
  BITS_RESERVED,
  BITS_REWIND_SHIFT,
  BITS_WHOLE_BODY,
  COLUMN_ATSFP,
  COLUMN_BITS,
  COLUMN_CLTT,
  COLUMN_ENDS,
  COLUMN_LENGTH,
  COLUMN_OFFSET,
  COLUMN_STARTS,
  COLUMN_TSFP,
  COLUMN_TSTP,
  type Lease4Rows,
  ROW_WORDS,
  stateBits,
  stateOfBits,
} from "./lease4-rows.js";

/** Stores a block that the general parser read: its fixed part in the columns, its whole body as text. */
export function storeLease4Block(
  table: Lease4Rows,
  address: number,
  block: Lease4Block,
  body: { readonly bytes: Uint8Array; readonly start: number; readonly end: number; readonly damaged: boolean },
): void {
  const row = table.findOrAdd(address);
  const base = row * ROW_WORDS;
  const bits =
    stateBits(block.state) |
    (stateBits(block.nextState) << BITS_NEXT_SHIFT) |
    (stateBits(block.rewindState) << BITS_REWIND_SHIFT) |
    (block.bootp ? BITS_BOOTP : 0) |
    (block.reserved ? BITS_RESERVED : 0) |
    BITS_WHOLE_BODY |
    (body.damaged ? BITS_DAMAGED : 0);
  const columns = [block.starts, block.ends, block.tstp, block.tsfp, block.atsfp, block.cltt, bits];
  const same = columns.every((value, i) => table.rows[base + COLUMN_STARTS + i] === (value | 0));
  if (same && table.sameText(row, body.bytes, body.start, body.end)) return;
  columns.forEach((value, i) => {
    table.rows[base + COLUMN_STARTS + i] = value;
  });
  const room = table.makeRoom(row, body.end - body.start);
  const { bytes, at } = table.arena.place(room);
  bytes.set(body.bytes.subarray(body.start, body.end), at);
  table.markDirty(row);
}

/** The lease in a row. Its text is only read now. */
export function lease4Of(table: Lease4Rows, row: number, partnered: boolean): Lease4 {
  const { rows } = table;
  const base = row * ROW_WORDS;
  const column = (index: number): number => rows[base + index] ?? 0;
  const bits = column(COLUMN_BITS);
  const block = textOf(table, row);
  const address = ipv4FromNumber(column(0) >>> 0);
  return {
    family: 4,
    key: address,
    address,
    bindingState: stateOfBits(bits),
    nextBindingState: stateOfBits(bits >> BITS_NEXT_SHIFT),
    rewindBindingState: stateOfBits(bits >> BITS_REWIND_SHIFT),
    starts: leaseTimeOf(column(COLUMN_STARTS)),
    ends: leaseTimeOf(column(COLUMN_ENDS)),
    cltt: leaseTimeOf(column(COLUMN_CLTT)),
    tstp: leaseTimeOf(column(COLUMN_TSTP)),
    tsfp: leaseTimeOf(column(COLUMN_TSFP)),
    atsfp: leaseTimeOf(column(COLUMN_ATSFP)),
    hardware: block.hardware,
    clientId: block.clientId,
    clientHostname: block.clientHostname,
    bootp: (bits & BITS_BOOTP) !== 0,
    reserved: (bits & BITS_RESERVED) !== 0,
    sets: block.sets,
    agent: block.agent,
    partnered,
  };
}

/** What the row's text says: everything that has no column. */
export function textOf(table: Lease4Rows, row: number): Lease4Block {
  const base = row * ROW_WORDS;
  const { bytes, at: start } = table.arena.place(table.rows[base + COLUMN_OFFSET] ?? 0);
  const end = start + (table.rows[base + COLUMN_LENGTH] ?? 0);
  const damaged = ((table.rows[base + COLUMN_BITS] ?? 0) & BITS_DAMAGED) !== 0;
  const block = emptyLease4Block();
  parseLease4Block({ bytes, start, end, damaged }, block, silentSink);
  return block;
}
