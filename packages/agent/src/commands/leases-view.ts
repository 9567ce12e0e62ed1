import {
  compareAddresses,
  hostContract,
  inUseAt,
  ipAddress,
  lease4Contract,
  lease6Contract,
  stateAt,
  decodeHostname,
  formatHex,
  formatTime,
  hardwareAddressOf,
  trimHostname,
  type Lease,
  type LeaseDiagnostic,
  type LeaseReader,
  type LeaseTable,
} from "@berth/core";

/** Characters handed out at a time: a table of a million leases is never one text. */
const PIECE = 64 * 1024;

/** The contract's JSON object in pieces, one line a lease, so that it may be read by eyes and by `grep` too. */
export function* leasesJson(reader: LeaseReader, diagnostics: readonly LeaseDiagnostic[], now: number): Iterable<string> {
  const { table } = reader;
  yield* inPieces(function* () {
    yield '{"leases":{';
    yield* members(function* () {
      for (const lease of table.leases()) if (lease.family === 4) yield [lease.key, lease4Contract(lease, now)];
    });
    yield '},\n"leases6":{';
    yield* members(function* () {
      for (const lease of table.leases()) if (lease.family === 6) yield [lease.key, lease6Contract(lease, now)];
    });
    yield '},\n"hosts":{';
    yield* members(function* () {
      for (const [name, host] of table.hosts) yield [name, hostContract(host)];
    });
    yield '},\n"failover":{';
    yield* members(() => table.failover.entries());
    yield `},\n"pending_tail":${reader.pendingTail},\n"diagnostics":${JSON.stringify(diagnostics)}}\n`;
  });
}

function* members(entries: () => Iterable<readonly [string, unknown]>): Iterable<string> {
  let between = "\n";
  for (const [name, value] of entries()) {
    yield `${between}${JSON.stringify(name)}:${JSON.stringify(value)}`;
    between = ",\n";
  }
}

const COLUMNS = ["ADDRESS", "STATE", "IN USE", "CLIENT", "ENDS", "NAME CLAIMED"] as const;
const WIDTHS = [15, 9, 6, 17, 20, 0];
/** Identifiers and names that are longer are cut in the table; JSON has them whole. */
const SHOWN_MAX = 64;

/** A table for people, in the order of the addresses. What clients say of themselves is escaped and cut: it may hold anything. */
export function* leasesText(reader: LeaseReader, now: number): Iterable<string> {
  const { table } = reader;
  yield* inPieces(function* () {
    const keys = keysInOrder(table);
    const widths = WIDTHS.with(
      0,
      keys.reduce((widest, key) => Math.max(widest, key.length), WIDTHS[0] ?? 0),
    );
    if (keys.length > 0) yield line(COLUMNS, widths);
    for (const key of keys) {
      const lease = table.get(key);
      if (lease !== null) yield line(cells(lease, now), widths);
    }
    for (const [name, host] of table.hosts) {
      yield `host ${escaped(name)}: ${host.fixedAddresses.join(", ") || "no address"}\n`;
    }
    for (const name of table.rubouts) yield `host ${escaped(name)}: removed, also where dhcpd.conf declares it\n`;
    for (const [name, { my, partner }] of table.failover) {
      yield `failover ${escaped(name)}: ${escaped(my ?? "unknown")}, partner ${escaped(partner ?? "unknown")}\n`;
    }
  });
}

/** By address, a delegated prefix by its first one. */
function keysInOrder(table: LeaseTable): readonly string[] {
  const placed = [...table.keys()].map((key) => ({ key, address: ipAddress(key.split("/", 1)[0] ?? key) }));
  return placed.sort((a, b) => compareAddresses(a.address, b.address)).map(({ key }) => key);
}

function cells(lease: Lease, now: number): readonly string[] {
  const client = hardwareAddressOf(lease) ?? (lease.family === 6 ? formatHex(lease.duid) : (hexOf(lease.clientId) ?? "-"));
  const claimed = lease.family === 4 && lease.clientHostname !== null ? trimHostname(decodeHostname(lease.clientHostname)) : null;
  return [
    lease.key,
    stateAt(lease, now),
    inUseAt(lease, now) ? "yes" : "no",
    cut(client),
    formatTime(lease.ends) ?? "unknown",
    claimed === null ? "" : escaped(cut(claimed)),
  ];
}

function hexOf(octets: Uint8Array | null): string | null {
  return octets === null ? null : formatHex(octets);
}

function cut(text: string): string {
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}...` : text;
}

function line(columns: readonly string[], widths: readonly number[]): string {
  return `${columns
    .map((cell, i) => cell.padEnd(widths[i] ?? 0))
    .join("  ")
    .trimEnd()}\n`;
}

/** Printable ASCII as it is, everything else as `\u{...}`: no control sequence of a client reaches a terminal. */
function escaped(text: string): string {
  return text.replace(/[^\x20-\x5b\x5d-\x7e]/gu, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}

function* inPieces(parts: () => Iterable<string>): Iterable<string> {
  let piece = "";
  for (const part of parts()) {
    piece += part;
    if (piece.length < PIECE) continue;
    yield piece;
    piece = "";
  }
  if (piece !== "") yield piece;
}
