import type { Lease } from "../model.js";
import { Framer } from "./framer.js";
import { createLeaseReader } from "./lease-reader.js";
import { isBlank } from "./tokens.js";

export interface TrimmedLeases {
  /** The file without the blocks of those leases; everything else octet for octet. */
  readonly bytes: Uint8Array;
  /** Addresses that were left out. */
  readonly dropped: number;
}

/**
 * A leases file without the leases that ended before `endedBefore` (seconds since 1970). dhcpd never forgets a lease, and its start takes time that
 * grows faster than their number (each pool keeps them in lists sorted by their ends). What is dropped is as never given: the address is free, and
 * its last holder may get another.
 *
 * Kept are leases that still say something: abandoned, reserved, in use, of an unknown state, and all of a file with a failover peer. Null when
 * there is nothing to gain, or when the file is damaged, not whole, or not one of IPv4: then it is dhcpd's to deal with.
 */
export function trimLeases(bytes: Uint8Array, endedBefore: number): TrimmedLeases | null {
  const reader = createLeaseReader();
  reader.push(bytes);
  const { table } = reader;
  if (table.family !== 4 || reader.pendingTail || reader.skippedDeclarations > 0 || reader.diagnostics().length > 0) return null;
  if (table.failover.size > 0 || bytes[0] === BYTE_ORDER_MARK) return null;
  const drop = new Set<string>();
  for (const lease of table.leases()) if (isLongEnded(lease, endedBefore)) drop.add(lease.key);
  if (drop.size === 0) return null;
  const kept = withoutBlocks(bytes, drop);
  return kept === null ? null : { bytes: kept, dropped: drop.size };
}

function isLongEnded(lease: Lease, before: number): boolean {
  if (lease.family !== 4 || lease.partnered || lease.reserved || lease.bootp) return false;
  const isPlain = lease.bindingState === "free" || lease.bindingState === "active" || lease.bindingState === "expired";
  const hasEnded = isPlain || lease.bindingState === "released";
  return hasEnded && typeof lease.ends === "number" && lease.ends < before;
}

/** Null when a declaration does not end as one should, or when not all of them were found. */
function withoutBlocks(bytes: Uint8Array, drop: ReadonlySet<string>): Uint8Array | null {
  const kept = new Uint8Array(bytes.length);
  const found = new Set<string>();
  const framer = new Framer();
  let length = 0;
  const keep = (from: number, to: number): void => {
    kept.set(bytes.subarray(from, to), length);
    length += to - from;
  };
  for (let at = 0; at < bytes.length; ) {
    const start = declarationAt(bytes, at);
    keep(at, start);
    if (start === bytes.length) break;
    framer.begin();
    if (framer.scan(bytes, start, bytes.length) !== "whole") return null;
    const end = start + framer.scanned;
    const key = leaseKey(bytes, start);
    const isDropped = key !== null && drop.has(key);
    if (isDropped) found.add(key);
    else keep(start, end);
    at = isDropped && bytes[end] === NEWLINE ? end + 1 : end;
  }
  return found.size === drop.size ? kept.subarray(0, length) : null;
}

const BYTE_ORDER_MARK = 0xef;
const HASH = 0x23;
const NEWLINE = 0x0a;

/** The next octet that is neither blank nor in a comment. */
function declarationAt(bytes: Uint8Array, from: number): number {
  let at = from;
  for (; at < bytes.length; at++) {
    const octet = bytes[at] ?? 0;
    if (octet === HASH) at = endOfLine(bytes, at);
    else if (!isBlank(octet)) break;
  }
  return Math.min(at, bytes.length);
}

function endOfLine(bytes: Uint8Array, from: number): number {
  const end = bytes.indexOf(NEWLINE, from);
  return end < 0 ? bytes.length : end;
}

const LEASE = /^lease[ \t]+([0-9.]{7,15})[ \t\r\n]*\{/i;
const HEAD_OCTETS = 64;

function leaseKey(bytes: Uint8Array, at: number): string | null {
  const head = bytes.subarray(at, Math.min(at + HEAD_OCTETS, bytes.length));
  return LEASE.exec(String.fromCharCode(...head))?.[1] ?? null;
}
