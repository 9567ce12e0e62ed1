import type { BindingState, LeaseHardware, LeaseValue } from "../model.js";
import { type Sink, Statements } from "./statements.js";
import { TIME_UNKNOWN } from "./time-value.js";
import { Lexer, TOKEN_STRING } from "./tokens.js";

type State = BindingState | "unknown" | null;

/** What the statements of one `lease` block say. Times as stored numbers. */
export interface Lease4Block {
  starts: number;
  ends: number;
  tstp: number;
  tsfp: number;
  atsfp: number;
  cltt: number;
  state: State;
  nextState: State;
  rewindState: State;
  bootp: boolean;
  reserved: boolean;
  hardware: LeaseHardware | null;
  clientId: Uint8Array | null;
  clientHostname: Uint8Array | null;
  sets: Map<string, LeaseValue>;
  agent: Map<string, LeaseValue>;
  /** Where the closing brace stands, or -1: the block is torn. */
  closedAt: number;
}

/** Statements that a lease may have and that mean nothing to us (dhcpd.leases(5), confpars.c). */
const IGNORED = new Set([
  "on",
  "if",
  "elsif",
  "else",
  "switch",
  "unset",
  "billing",
  "class",
  "subclass",
  "dynamic",
  "hostname",
  "ddns-fwd-name",
  "ddns-rev-name",
  "ddns-client-fqdn",
  "ddns-txt",
  "ddns-text",
  "ddns-dhcid",
  "timestamp",
  "supersede",
  "execute",
  "log",
]);

const TIMES = ["starts", "ends", "tstp", "tsfp", "atsfp", "cltt"] as const;
type TimeName = (typeof TIMES)[number];

export function emptyLease4Block(): Lease4Block {
  return {
    starts: TIME_UNKNOWN,
    ends: TIME_UNKNOWN,
    tstp: TIME_UNKNOWN,
    tsfp: TIME_UNKNOWN,
    atsfp: TIME_UNKNOWN,
    cltt: TIME_UNKNOWN,
    state: null,
    nextState: null,
    rewindState: null,
    bootp: false,
    reserved: false,
    hardware: null,
    clientId: null,
    clientHostname: null,
    sets: new Map(),
    agent: new Map(),
    closedAt: -1,
  };
}

/** Where the block's statements lie, and whether its strings are cut at line ends because it is damaged. */
export interface BlockPlace {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
  readonly damaged: boolean;
}

/** Reads the statements between the braces into `block`. A statement that is not whole or makes no sense is left out and reported. */
export function parseLease4Block(place: BlockPlace, block: Lease4Block, sink: Sink): void {
  const statements = new Statements(new Lexer(place.bytes, place.start, place.end, place.damaged), sink);
  const seen = new Set<string>();
  for (let keyword = statements.next(); keyword !== null; keyword = statements.next()) {
    const at = statements.lexer.tokenStart;
    const name = readStatement(keyword, statements, block);
    if (name === null) continue;
    if (seen.has(name)) sink.report("statement-twice", at, `'${name}' stands twice in one block: the later one counts`);
    seen.add(name);
  }
  block.closedAt = statements.closed ? statements.lexer.tokenStart : -1;
}

/** Reads one statement; answers the name under which it may stand only once, or null. */
function readStatement(keyword: string, statements: Statements, block: Lease4Block): string | null {
  const time = TIMES.find((name) => name === keyword);
  if (time !== undefined) return readTime(time, statements, block);
  switch (keyword) {
    case "binding":
    case "next":
    case "rewind":
      return readState(keyword, statements, block);
    case "hardware":
      block.hardware = statements.hardware();
      return keyword;
    case "uid":
      block.clientId = statements.identifier();
      return keyword;
    case "client-hostname":
      block.clientHostname = statements.string();
      return keyword;
    case "set":
      readNamed(statements, block.sets);
      return null;
    case "option":
      readOption(statements, block);
      return null;
    case "abandoned":
    case "bootp":
    case "dynamic-bootp":
    case "reserved":
      if (statements.end()) readFlag(keyword, block);
      return keyword;
    default:
      if (!IGNORED.has(keyword)) statements.sink.unknown("statement-unknown", keyword, statements.lexer.tokenStart);
      statements.skip();
      return null;
  }
}

function readTime(name: TimeName, statements: Statements, block: Lease4Block): string {
  block[name] = statements.time();
  return name;
}

/** dhcpd writes `dynamic-bootp`; the manual page has `bootp`. */
function readFlag(keyword: "abandoned" | "bootp" | "dynamic-bootp" | "reserved", block: Lease4Block): void {
  if (keyword === "abandoned") block.state = "abandoned";
  else if (keyword === "reserved") block.reserved = true;
  else block.bootp = true;
}

function readState(keyword: "binding" | "next" | "rewind", statements: Statements, block: Lease4Block): string {
  const at = statements.lexer.tokenStart;
  const binding = keyword === "binding" || statements.word() === "binding";
  if (!binding || statements.word() !== "state") {
    statements.malformed(at, "'binding state' expected");
    statements.skip();
    return keyword;
  }
  const state = statements.state((word) => readFlagState(word, block));
  if (state === null) return keyword;
  if (keyword === "binding") block.state = state;
  else if (keyword === "next") block.nextState = state;
  else block.rewindState = state;
  return keyword;
}

/** Two states of old servers that are flags of an active lease: dhcpd itself reads them so, in all three places, and rewrites them as `dynamic-bootp` and `reserved`. */
function readFlagState(word: string, block: Lease4Block): BindingState | null {
  if (word !== "bootp" && word !== "reserved") return null;
  block[word] = true;
  return "active";
}

/** The most variables and options of one lease that are kept. */
const NAMES_MAX = 256;

function readNamed(statements: Statements, into: Map<string, LeaseValue>): void {
  const name = readName(statements);
  const value = name === null ? null : statements.value();
  if (name === null) statements.skip();
  else if (value !== null && (into.has(name) || into.size < NAMES_MAX)) into.set(name, value);
}

function readOption(statements: Statements, block: Lease4Block): void {
  const name = readName(statements);
  if (name?.toLowerCase().startsWith("agent.") === true) {
    const value = statements.value();
    const key = name.slice("agent.".length);
    if (value !== null && (block.agent.has(key) || block.agent.size < NAMES_MAX)) block.agent.set(key, value);
    return;
  }
  statements.sink.unknown("statement-unknown", "option", statements.lexer.tokenStart);
  statements.skip();
}

/** A variable's or option's name, in the case in which it is written. */
function readName(statements: Statements): string | null {
  if (statements.word() === null) return null;
  return statements.lexer.kind === TOKEN_STRING ? null : statements.lexer.text().slice(0, 128);
}
