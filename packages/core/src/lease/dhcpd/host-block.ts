import { addressFromBytes, type IpAddress, parseIpAddress } from "../../address/ip.js";
import { decodeHostname, trimHostname } from "../hostname.js";
import type { FailoverState, HostDeclaration, LeaseHardware } from "../model.js";
import type { BlockPlace } from "./lease4-block.js";
import { Statements, type Sink } from "./statements.js";
import { Lexer, COMMA } from "./tokens.js";

export interface HostBlock {
  readonly host: HostDeclaration;
  /** A rubout: `{ deleted; }`. */
  readonly deleted: boolean;
  readonly closed: boolean;
}

const FIXED_ADDRESSES_MAX = 256;

/** Reads a host declaration, as OMAPI writes them; every option that is not listed here is left alone. */
export function parseHostBlock(name: string, place: BlockPlace, sink: Sink): HostBlock {
  const statements = new Statements(new Lexer(place.bytes, place.start, place.end, place.damaged), sink);
  const fixedAddresses: IpAddress[] = [];
  let hardware: LeaseHardware | null = null;
  let clientId: Uint8Array | null = null;
  let hostname: string | null = null;
  let nextServer: IpAddress | null = null;
  let deleted = false;
  for (let keyword = statements.next(); keyword !== null; keyword = statements.next()) {
    if (keyword === "hardware") hardware = statements.hardware();
    else if (keyword === "uid") clientId = statements.identifier();
    else if (keyword === "fixed-address" || keyword === "fixed-address6") readFixed(statements, fixedAddresses);
    else if (keyword === "deleted") deleted = statements.end() || deleted;
    else if (keyword === "next-server") nextServer = parseIpAddress(statements.words("") ?? "");
    else if (keyword === "supersede" || keyword === "option") {
      const option = statements.word();
      if (option === "host-name") hostname = textOf(statements.value());
      else if (option === "server.next-server") nextServer = addressOf(statements.value());
      else statements.skip();
    } else statements.skip();
  }
  return { host: { name, hardware, clientId, fixedAddresses, hostname, nextServer }, deleted, closed: statements.closed };
}

function textOf(value: unknown): string | null {
  if (typeof value === "string") return trimHostname(value);
  return value instanceof Uint8Array ? trimHostname(decodeHostname(value)) : null;
}

/** `c0:00:02:01`, or the address itself. */
function addressOf(value: unknown): IpAddress | null {
  if (value instanceof Uint8Array) return value.length === 4 ? addressFromBytes(value) : null;
  return typeof value === "string" ? parseIpAddress(value) : null;
}

function readFixed(statements: Statements, into: IpAddress[]): void {
  for (;;) {
    const word = statements.word();
    if (word !== null) {
      const address = parseIpAddress(word);
      if (address !== null && into.length < FIXED_ADDRESSES_MAX) into.push(address);
    } else if (statements.token() !== COMMA) {
      statements.pushBack();
      statements.end();
      return;
    }
  }
}

/** `my state STATE at TIME; partner state STATE at TIME;` (the manual page says `peer`). */
export function parseFailoverBlock(place: BlockPlace, sink: Sink): FailoverState & { readonly closed: boolean } {
  const statements = new Statements(new Lexer(place.bytes, place.start, place.end, place.damaged), sink);
  let my: string | null = null;
  let partner: string | null = null;
  for (let keyword = statements.next(); keyword !== null; keyword = statements.next()) {
    const mine = keyword === "my";
    if (!(mine || keyword === "partner" || keyword === "peer") || statements.word() !== "state") {
      statements.skip();
      continue;
    }
    const state = statements.words(" ")?.split(" ")[0];
    if (state === undefined || state === "") continue;
    if (mine) my = state;
    else partner = state;
  }
  return { my, partner, closed: statements.closed };
}
