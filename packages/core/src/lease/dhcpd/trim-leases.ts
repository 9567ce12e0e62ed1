export interface TrimmedLeases {
  /** The file without the blocks of those leases; everything else octet for octet. */
  readonly bytes: Uint8Array;
  /** Addresses that were left out. */
  readonly dropped: number;
}

/** A lease is history when it ended longer ago than this many times its own length, and than an hour. */
const LENGTHS_PAST = 10;
const PAST_MIN_SECONDS = 3_600;

/**
 * A leases file without the leases that ended long before `now` (seconds since 1970). dhcpd never forgets a lease, and its start takes time that
 * grows faster than their number (each pool keeps them in lists sorted by their ends). What is dropped is as never given: the address is free, and
 * its last holder may get another.
 *
 * Only blocks that look exactly as dhcpd writes them are dropped; what is abandoned, reserved, in use or odd in any way stays, for dhcpd to deal
 * with. Null when there is nothing to drop, or when a failover peer shares the leases.
 */
export function trimLeases(bytes: Uint8Array, now: number): TrimmedLeases | null {
  const blocks = findBlocks(latin1(bytes));
  if (blocks === null) return null;
  const ended = new Map<string, boolean>();
  // The last block of an address counts; one that is not understood speaks for its address whatever the others say.
  for (const { address, body } of blocks.whole) ended.set(address, isLongEnded(body, now));
  for (const address of blocks.odd) ended.set(address, false);
  const dropped = [...ended.values()].filter(Boolean).length;
  if (dropped === 0) return null;
  return {
    bytes: without(
      bytes,
      blocks.whole.filter(({ address }) => ended.get(address) === true),
    ),
    dropped,
  };
}

interface Block {
  readonly address: string;
  readonly from: number;
  readonly to: number;
  /** Its statements, a line each. */
  readonly body: string;
}

/** A whole block in dhcpd's own writing: a statement a line, no braces but in strings, which hold no line end. */
const BLOCK = /lease ([0-9.]{7,15}) \{\n((?: {2}[^"{}#;\n]+(?:"(?:[^"\\\n]|\\[^\n])*"[^"{}#;\n]*)*;(?: #[^\n]*)?\n)*)\}\n/y;
const ODD = /lease\s+([0-9.]{7,15})/y;

/** Null when the file has a failover peer: then the partner has a say in what has ended. */
function findBlocks(text: string): { readonly whole: readonly Block[]; readonly odd: readonly string[] } | null {
  const whole: Block[] = [];
  const odd: string[] = [];
  for (let at = 0; at < text.length; ) {
    BLOCK.lastIndex = at;
    const [block, address, body] = BLOCK.exec(text) ?? [];
    if (block !== undefined && address !== undefined && body !== undefined) {
      whole.push({ address, body, from: at, to: at + block.length });
      at += block.length;
      continue;
    }
    if (text.startsWith("failover", at)) return null;
    ODD.lastIndex = firstLetter(text, at);
    const name = ODD.exec(text)?.[1];
    if (name !== undefined) odd.push(name);
    const lineEnd = text.indexOf("\n", at);
    at = lineEnd < 0 ? text.length : lineEnd + 1;
  }
  return { whole, odd };
}

/** Past blanks and a byte order mark. */
function firstLetter(text: string, from: number): number {
  let at = from;
  while (at < text.length && /[\s\u00bb\u00bf\u00ef]/.test(text.charAt(at)) && text.charAt(at) !== "\n") at++;
  return at;
}

const STATE = /^ {2}binding state (?:free|active|expired|released);$/m;
const KEPT = /^ {2}(?:reserved|bootp|dynamic-bootp);/m;

function isLongEnded(body: string, now: number): boolean {
  const [starts, ends] = [timeOf(body, "starts"), timeOf(body, "ends")];
  if (starts === null || ends === null || !STATE.test(body) || KEPT.test(body)) return false;
  return ends + Math.max(PAST_MIN_SECONDS, LENGTHS_PAST * (ends - starts)) < now;
}

/** Both forms of dhcpd.leases(5): `W YYYY/MM/DD HH:MM:SS` in UTC, and `epoch SECONDS`. */
const TIMES = {
  starts: /^ {2}starts (?:\d (\d{4})\/(\d\d)\/(\d\d) (\d\d):(\d\d):(\d\d)|epoch (\d{1,12}));/m,
  ends: /^ {2}ends (?:\d (\d{4})\/(\d\d)\/(\d\d) (\d\d):(\d\d):(\d\d)|epoch (\d{1,12}));/m,
} as const;

function timeOf(body: string, word: keyof typeof TIMES): number | null {
  const found = TIMES[word].exec(body);
  if (found === null) return null;
  const [, year, month, day, hour, minute, second, epoch] = found.map(Number);
  if (found[7] !== undefined) return epoch ?? null;
  return Date.UTC(year ?? 0, (month ?? 1) - 1, day, hour, minute, second) / 1_000;
}

function without(bytes: Uint8Array, blocks: readonly Block[]): Uint8Array {
  const kept = new Uint8Array(bytes.length);
  let [length, at] = [0, 0];
  for (const { from, to } of [...blocks, { from: bytes.length, to: bytes.length }]) {
    kept.set(bytes.subarray(at, from), length);
    length += from - at;
    at = to;
  }
  return kept.subarray(0, length);
}

const PIECE = 8_192;

/** One character an octet, so that places in the text are places in the file. */
function latin1(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += PIECE)
    text += String.fromCharCode.apply(null, bytes.subarray(at, at + PIECE) as unknown as number[]);
  return text;
}
