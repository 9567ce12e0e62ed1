import { ipv4FromNumber } from "../../address/ip.js";
import { emptyLease4Block, type Lease4Block, parseLease4Block } from "../dhcpd/lease4-block.js";
import { readUsualTail } from "../dhcpd/usual-tail.js";
import { silentSink } from "../dhcpd/statements.js";
import { leaseTimeOf } from "../dhcpd/time-value.js";
import type { Lease4 } from "../model.js";
import { Arena } from "./arena.js";
import {
  BITS_BOOTP,
  BITS_DAMAGED,
  BITS_NEXT_SHIFT,
  BITS_RESERVED,
  BITS_REWIND_SHIFT,
  BITS_WHOLE_BODY,
  type Lease4Rows,
  RECORD_TEXT,
  stateBits,
  stateOfBits,
  WORD_ATSFP,
  WORD_BITS,
  WORD_CLTT,
  WORD_ENDS,
  WORD_LENGTH,
  WORD_ROW,
  WORD_STARTS,
  WORD_TSFP,
  WORD_TSTP,
} from "./lease4-rows.js";

/** Stores a block that the general parser read: its fixed part in the columns, its whole body as text. */
export function storeLease4Block(
  table: Lease4Rows,
  address: number,
  block: Lease4Block,
  body: { readonly bytes: Uint8Array; readonly start: number; readonly end: number; readonly damaged: boolean },
): void {
  const length = body.end - body.start;
  const before = table.findOrAdd(address, length);
  const bits =
    stateBits(block.state) |
    (stateBits(block.nextState) << BITS_NEXT_SHIFT) |
    (stateBits(block.rewindState) << BITS_REWIND_SHIFT) |
    (block.bootp ? BITS_BOOTP : 0) |
    (block.reserved ? BITS_RESERVED : 0) |
    BITS_WHOLE_BODY |
    (body.damaged ? BITS_DAMAGED : 0);
  const words = [block.starts, block.ends, block.tstp, block.tsfp, block.atsfp, block.cltt, bits];
  if (hasWords(table, before, words) && table.sameText(before, body.bytes, body.start, body.end)) return;
  const place = table.makeRoom(before, length);
  const view = table.arena.viewOf(place);
  const at = Arena.within(place);
  words.forEach((value, i) => view.setInt32(at + (WORD_STARTS + i) * 4, value, true));
  table.arena.bytesOf(place).set(body.bytes.subarray(body.start, body.end), at + RECORD_TEXT);
  table.markDirty(view.getInt32(at + WORD_ROW * 4, true));
}

function hasWords(table: Lease4Rows, place: number, words: readonly number[]): boolean {
  const view = table.arena.viewOf(place);
  const at = Arena.within(place);
  return words.every((value, i) => view.getInt32(at + (WORD_STARTS + i) * 4, true) === (value | 0));
}

/** The lease in a row. Its text is only read now. */
export function lease4Of(table: Lease4Rows, row: number, partnered: boolean): Lease4 {
  const { view, at } = table.record(row);
  const word = (index: number): number => view.getInt32(at + index * 4, true);
  const bits = word(WORD_BITS);
  const block = textOf(table, row);
  const address = ipv4FromNumber(table.address(row) >>> 0);
  return {
    family: 4,
    key: address,
    address,
    bindingState: stateOfBits(bits),
    nextBindingState: stateOfBits(bits >> BITS_NEXT_SHIFT),
    rewindBindingState: stateOfBits(bits >> BITS_REWIND_SHIFT),
    starts: leaseTimeOf(word(WORD_STARTS)),
    ends: leaseTimeOf(word(WORD_ENDS)),
    cltt: leaseTimeOf(word(WORD_CLTT)),
    tstp: leaseTimeOf(word(WORD_TSTP)),
    tsfp: leaseTimeOf(word(WORD_TSFP)),
    atsfp: leaseTimeOf(word(WORD_ATSFP)),
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
  const { view, bytes, at } = table.record(row);
  const start = at + RECORD_TEXT;
  const end = start + view.getInt32(at + WORD_LENGTH * 4, true);
  const bits = view.getInt32(at + WORD_BITS * 4, true);
  const block = emptyLease4Block();
  if ((bits & BITS_WHOLE_BODY) === 0) readUsualTail(bytes, start, end, block);
  else parseLease4Block({ bytes, start, end, damaged: (bits & BITS_DAMAGED) !== 0 }, block, silentSink);
  return block;
}
