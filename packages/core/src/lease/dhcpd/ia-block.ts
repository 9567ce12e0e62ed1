import { parseIpAddress } from "../../address/ip.js";
import { type IpPrefix, networkOf } from "../../address/prefix.js";
import { printableAscii } from "../diagnostics.js";
import type { Lease6, Lease6Type } from "../model.js";
import { Statements, type Sink } from "./statements.js";
import { leaseTimeOf, TIME_UNKNOWN } from "./time-value.js";
import { Lexer, OPEN_BRACE } from "./tokens.js";
import type { BlockPlace } from "./lease4-block.js";

/** `ia-na KEY { ... }`: the first four octets of the key are the IAID in the author's byte order, the rest is the DUID. */
export interface IaHeader {
  readonly type: Lease6Type;
  readonly key: Uint8Array;
  readonly bigEndian: boolean;
}

/** One `iaaddr` or `iaprefix` block before the IA's own statements are known. */
type Entry = Omit<Lease6, "family" | "type" | "iaid" | "duid" | "cltt">;

export interface IaBlock {
  readonly iaid: number;
  readonly duid: Uint8Array;
  readonly leases: readonly Lease6[];
  readonly closed: boolean;
}

/** Statements inside that mean nothing to us. */
const IGNORED = new Set(["on", "if", "elsif", "else", "set", "unset", "option"]);

/** An IAID is a number of four octets, written as the machine that wrote the file holds it. */
export function iaidOf(key: Uint8Array, bigEndian: boolean): number {
  return new DataView(key.buffer, key.byteOffset, key.byteLength).getUint32(0, !bigEndian);
}

/** Reads the statements of an IA. An address that makes no sense is left out and reported; the others stand. */
export function parseIaBlock(header: IaHeader, place: BlockPlace, sink: Sink): IaBlock {
  const statements = new Statements(new Lexer(place.bytes, place.start, place.end, place.damaged), sink);
  const entries: Entry[] = [];
  let cltt = TIME_UNKNOWN;
  for (let keyword = statements.next(); keyword !== null; keyword = statements.next()) {
    if (keyword === "cltt") {
      cltt = statements.time();
    } else if (keyword === "iaaddr" || keyword === "iaprefix") {
      const entry = parseEntry(keyword === "iaprefix", header.type, statements);
      if (entry !== null) entries.push(entry);
    } else {
      if (!IGNORED.has(keyword)) sink.unknown("statement-unknown", keyword, statements.lexer.tokenStart);
      statements.skip();
    }
  }
  const ia = { iaid: iaidOf(header.key, header.bigEndian), duid: header.key.slice(4) };
  const leases = entries.map((entry): Lease6 => ({ family: 6, type: header.type, ...ia, cltt: leaseTimeOf(cltt), ...entry }));
  return { ...ia, leases, closed: statements.closed };
}

function parseEntry(isPrefix: boolean, type: Lease6Type, statements: Statements): Entry | null {
  const at = statements.lexer.tokenStart;
  const text = statements.word();
  const place = text === null ? null : isPrefix ? prefixPlace(text, statements, at) : addressPlace(text);
  if (place === null || isPrefix !== (type === "pd")) {
    statements.sink.report(
      "address-malformed",
      at,
      `not ${isPrefix ? "a prefix" : "an address"} of ia-${type}: ${printableAscii(text ?? "")}`,
    );
    statements.skip();
    return null;
  }
  if (statements.token() !== OPEN_BRACE) {
    statements.malformed(at, "'{' expected");
    statements.skip();
    return null;
  }
  return parseEntryBlock(place, statements, at);
}

type Place = Pick<Entry, "key" | "address" | "prefix">;

function parseEntryBlock(place: Place, outer: Statements, at: number): Entry | null {
  const statements = new Statements(outer.lexer, outer.sink);
  let bindingState: Entry["bindingState"] = null;
  let ends: number | null = null;
  let preferredLife: number | null = null;
  let maxLife: number | null = null;
  for (let keyword = statements.next(); keyword !== null; keyword = statements.next()) {
    if (keyword === "binding" && statements.word() === "state") bindingState = statements.state();
    else if (keyword === "ends") ends = statements.time();
    else if (keyword === "preferred-life") preferredLife = statements.number();
    else if (keyword === "max-life") maxLife = statements.number();
    else {
      if (!IGNORED.has(keyword)) outer.sink.unknown("statement-unknown", keyword, statements.lexer.tokenStart);
      statements.skip();
    }
  }
  if (!statements.closed) return null;
  if (ends === null)
    outer.sink.report("ends-missing", at, `${place.key} has no end: counted as in use for as long as it is active`);
  return { ...place, bindingState, ends: leaseTimeOf(ends ?? TIME_UNKNOWN), preferredLife, maxLife };
}

function addressPlace(text: string): Place | null {
  const address = parseIpAddress(text);
  return address?.includes(":") !== true ? null : { key: address, address, prefix: null };
}

function prefixPlace(text: string, statements: Statements, at: number): Place | null {
  const [network = "", length = ""] = text.split("/");
  const address = parseIpAddress(network);
  if (address?.includes(":") !== true || !/^\d{1,3}$/.test(length) || Number(length) > 128) return null;
  const first = networkOf(address, Number(length));
  const prefix = `${first}/${Number(length)}` as IpPrefix;
  if (first !== address)
    statements.sink.report("prefix-host-bits", at, `${printableAscii(text)} has host bits: read as ${prefix}`);
  return { key: prefix, address: first, prefix };
}
