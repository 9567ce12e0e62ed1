import type { LedgerState } from "@berth/core";
import { randomFillSync } from "node:crypto";

/** Crockford's base 32: no letters that read like digits. */
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
/** Milliseconds since 1970 need nine digits until the year 3084. */
const TIME_LENGTH = 9;
const CHANCE_LENGTH = 7;

/** Drawn in advance: asking the system for a few octets costs more than all the rest of an id. */
const pool = new Uint8Array(4096);
let used = pool.length;

/** Ids for a new machine and a new allocation that the ledger has not yet. */
export function newIds(state: LedgerState): { readonly machineId: string; readonly allocationId: string } {
  return { machineId: unusedId("m", state.machines), allocationId: unusedId("a", state.allocations) };
}

/**
 * An id of that kind that none of the records has: time, then chance. Ids that are made together lie together in every index of the database,
 * so that a commit of many writes few pages; chance alone would touch a page of each index for every single record. The time orders and
 * means nothing else, so a clock that steps does no harm.
 */
export function unusedId(kind: string, records: { has(id: string): boolean }): string {
  for (;;) {
    const id = `${kind}-${timeText(Date.now())}${chanceText()}`;
    if (!records.has(id)) return id;
  }
}

/** Many ids are made in one millisecond. */
let lastTime = { now: 0, text: "" };

function timeText(now: number): string {
  if (now === lastTime.now) return lastTime.text;
  let text = "";
  for (let rest = now, i = 0; i < TIME_LENGTH; i++, rest = Math.floor(rest / 32)) text = ALPHABET.charAt(rest % 32) + text;
  lastTime = { now, text };
  return text;
}

function chanceText(): string {
  if (used + CHANCE_LENGTH > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  let text = "";
  for (const end = used + CHANCE_LENGTH; used < end; used++) text += ALPHABET.charAt((pool[used] ?? 0) & 31);
  return text;
}
