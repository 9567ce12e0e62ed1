import { ipv4FromNumber } from "../../address/ip.js";
import { printableAscii } from "../diagnostics.js";
import type { DhcpdTable } from "../table/dhcpd-table.js";
import { storeLease4Block } from "../table/lease4-view.js";
import { iaKeyOf } from "../table/lease6-records.js";
import { parseFailoverBlock, parseHostBlock } from "./host-block.js";
import { parseIaBlock } from "./ia-block.js";
import { type BlockPlace, emptyLease4Block, parseLease4Block } from "./lease4-block.js";
import { type Sink, Statements } from "./statements.js";
import { asciiText, CLOSE_BRACE, Lexer, OPEN_BRACE, SEMICOLON, TOKEN_STRING, TOKEN_WORD } from "./tokens.js";

/** How the bytes of a declaration were found. */
export interface Frame {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
  /** The next declaration begins before this one has ended: strings end with their lines, and without its brace it is dropped. */
  readonly damaged: boolean;
  /** The file is known to end here: a block without its brace counts, without its last, unfinished statement. */
  readonly final: boolean;
}

/** Longest name of a host or failover peer that is kept. */
const NAME_MAX = 255;
/** Words at the top level that are known and of no interest. */
const IGNORED = new Set([
  "server-duid",
  "class",
  "subclass",
  "zone",
  "key",
  "option",
  "omapi-port",
  "omapi-key",
  "pool",
  "shared-network",
  "subnet",
]);

/** The general reader of declarations: understands everything, slowly. */
export class Declarations {
  readonly #table: DhcpdTable;
  readonly #sink: Sink;
  #bigEndian = false;
  /** Groups that were opened and cut into by a host at column 0: their closing braces are still to come. */
  #openGroups = 0;
  /** Declarations that were dropped. */
  skipped = 0;

  constructor(table: DhcpdTable, sink: Sink) {
    this.#table = table;
    this.#sink = sink;
  }

  read(frame: Frame): void {
    const lexer = new Lexer(frame.bytes, frame.start, frame.end, frame.damaged);
    const kind = lexer.next();
    if (kind === TOKEN_WORD) this.#declaration(lexer.word(), lexer, frame);
    else if (kind === CLOSE_BRACE && this.#openGroups > 0) this.#openGroups--;
    else if (kind === CLOSE_BRACE) this.#sink.report("brace-stray", frame.start, "a closing brace that closes nothing");
    else if (kind !== SEMICOLON) this.#drop("declaration-unknown", frame.start, "a declaration does not begin with a word");
    const nul = frame.bytes.subarray(frame.start, frame.end).indexOf(0);
    if (nul >= 0) this.#sink.report("nul-bytes", frame.start + nul, "NUL bytes inside a declaration: read as blanks");
  }

  #declaration(keyword: string, lexer: Lexer, frame: Frame): void {
    switch (keyword) {
      case "lease":
        this.#lease(lexer, frame);
        break;
      case "ia-na":
      case "ia_na":
        this.#ia("na", lexer, frame);
        break;
      case "ia-ta":
      case "ia_ta":
        this.#ia("ta", lexer, frame);
        break;
      case "ia-pd":
      case "ia_pd":
        this.#ia("pd", lexer, frame);
        break;
      case "host":
        this.#host(lexer, frame);
        break;
      case "failover":
        this.#failover(lexer, frame);
        break;
      case "group":
      case "subgroup":
        this.#group(lexer, frame);
        break;
      case "authoring-byte-order":
        if (lexer.next() === TOKEN_WORD) this.#bigEndian = lexer.word() === "big-endian";
        break;
      default:
        if (IGNORED.has(keyword)) return;
        this.skipped++;
        this.#sink.unknown("declaration-unknown", keyword, frame.start);
    }
  }

  #lease(lexer: Lexer, frame: Frame): void {
    this.#table.family ??= 4;
    const address = lexer.next() === TOKEN_WORD ? parseLooseIpv4(lexer) : -1;
    if (address < 0 || lexer.next() !== OPEN_BRACE) {
      this.#drop("address-malformed", frame.start, `not a lease: ${this.#headOf(frame)}`);
      return;
    }
    const place = { ...frame, start: lexer.tokenEnd };
    const block = emptyLease4Block();
    parseLease4Block(place, block, this.#sink);
    if (!this.#whole(block.closedAt >= 0, frame, () => `lease ${ipv4FromNumber(address)}`)) return;
    const end = block.closedAt >= 0 ? block.closedAt : frame.end;
    storeLease4Block(this.#table.rows4, address | 0, block, { ...place, end });
  }

  #ia(type: "na" | "ta" | "pd", lexer: Lexer, frame: Frame): void {
    this.#table.family ??= 6;
    const statements = new Statements(lexer, this.#sink);
    const key = statements.blockKey();
    if (key === null || key.length < 5 || statements.token() !== OPEN_BRACE) {
      this.#drop("key-malformed", frame.start, `not an IA: ${this.#headOf(frame)}`);
      return;
    }
    const ia = parseIaBlock({ type, key, bigEndian: this.#bigEndian }, this.#body(lexer, frame), this.#sink);
    if (!this.#whole(ia.closed, frame, () => `ia-${type}`)) return;
    this.#table.records6.replaceIa(iaKeyOf({ type, ...ia }), ia.leases);
  }

  #host(lexer: Lexer, frame: Frame): void {
    const name = nameOf(lexer);
    if (name === null || lexer.next() !== OPEN_BRACE) {
      this.#drop("host-malformed", frame.start, `not a host: ${this.#headOf(frame)}`);
      return;
    }
    const { host, deleted, closed } = parseHostBlock(name, this.#body(lexer, frame), this.#sink);
    if (!this.#whole(closed, frame, () => `host ${printableAscii(name)}`)) return;
    if (deleted) this.#table.rubOut(name);
    else this.#table.setHost(host);
  }

  #failover(lexer: Lexer, frame: Frame): void {
    this.#table.family ??= 4;
    const peer = lexer.next() === TOKEN_WORD && lexer.word() === "peer";
    const name = peer ? nameOf(lexer) : null;
    let kind = lexer.next();
    if (kind === TOKEN_WORD && lexer.word() === "state") kind = lexer.next();
    if (name === null || kind !== OPEN_BRACE) {
      this.#drop("failover-malformed", frame.start, `not a failover state: ${this.#headOf(frame)}`);
      return;
    }
    const { my, partner, closed } = parseFailoverBlock(this.#body(lexer, frame), this.#sink);
    if (this.#whole(closed, frame, () => "failover peer")) this.#table.setFailover(name, { my, partner });
  }

  /** Hosts may stand in a group (OMAPI writes none, people do): its own statements say nothing to us, the hosts in it count. */
  #group(lexer: Lexer, frame: Frame): void {
    let kind = lexer.next();
    if (kind === TOKEN_WORD || kind === TOKEN_STRING) kind = lexer.next();
    if (kind !== OPEN_BRACE) return;
    if (frame.damaged) this.#openGroups++;
    const statements = new Statements(lexer, this.#sink);
    for (let keyword = statements.next(); keyword !== null; keyword = statements.next()) {
      const start = lexer.tokenStart;
      statements.skip();
      const end = lexer.tokenEnd;
      if (keyword === "host") this.#host(headLexer(frame, start, end), { ...frame, start, end });
    }
  }

  #body(lexer: Lexer, frame: Frame): BlockPlace {
    return { bytes: frame.bytes, start: lexer.tokenEnd, end: frame.end, damaged: frame.damaged };
  }

  /** A block without its brace is dropped, so that the one before it stays in force; at the end of a finished file it counts. */
  #whole(closed: boolean, frame: Frame, what: () => string): boolean {
    if (frame.damaged)
      this.#sink.report("declaration-damaged", frame.start, `${what()} is damaged: ${closed ? "read in part" : "dropped"}`);
    else if (!closed) this.#sink.report("declaration-unclosed", frame.start, `${what()} has no closing brace`);
    if (closed || (frame.final && !frame.damaged)) return true;
    this.skipped++;
    return false;
  }

  #drop(code: string, at: number, message: string): void {
    this.skipped++;
    this.#sink.report(code, at, message);
  }

  #headOf({ bytes, start, end }: Frame): string {
    return printableAscii(asciiText(bytes, start, Math.min(end, start + 48)));
  }
}

function headLexer(frame: Frame, start: number, end: number): Lexer {
  const lexer = new Lexer(frame.bytes, start, end, frame.damaged);
  lexer.next();
  return lexer;
}

function nameOf(lexer: Lexer): string | null {
  const kind = lexer.next();
  if (kind !== TOKEN_WORD && kind !== TOKEN_STRING) return null;
  const name = lexer.text();
  return name.length > NAME_MAX || name === "" ? null : name;
}

/** Four decimal numbers, leading zeros allowed as dhcpd allows them (they do not mean octal); -1 for anything else. */
function parseLooseIpv4(lexer: Lexer): number {
  const octets = /^(\d{1,4})\.(\d{1,4})\.(\d{1,4})\.(\d{1,4})$/.exec(lexer.word());
  if (octets === null) return -1;
  let address = 0;
  for (const octet of octets.slice(1)) {
    if (Number(octet) > 255) return -1;
    address = address * 256 + Number(octet);
  }
  return address;
}
