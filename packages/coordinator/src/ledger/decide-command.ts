import {
  accepted,
  answerKey,
  refused,
  type Decision,
  type KeptAnswer,
  type LedgerChange,
  type LedgerState,
  type Result,
} from "@berth/core";
import type { Command, Turn } from "./commit-queue.js";

/** How long an answer is kept for callers that lost it. */
const KEPT_MS = 24 * 3600 * 1000;
/** The oldest go when there are more, so that no caller fills the memory. */
const KEPT_MAX = 100_000;
/** More than one goes for each that comes, so that the old ones run out. */
const DROPPED_AT_ONCE = 4;

/** What a command decides, as its asker wants it: repeated, on condition, or for show only. */
export function decideCommand(command: Command<unknown>, turn: Turn): Result<Decision<unknown>> {
  const { actor, decide, dryRun, once } = command;
  const repeated = dryRun === true ? null : answerBefore(command, turn);
  if (repeated !== null) return repeated;
  const stale = checkTag(command, turn.state);
  if (stale !== null) return stale;
  const decision = decide(turn);
  if (!decision.ok) return decision;
  const { value, changes } = decision.value;
  if (dryRun === true) return accepted({ value, changes: [] });
  if (once === undefined) return decision;
  const { key, request } = once;
  const answer: KeptAnswer = { actor, key, request, answer: JSON.stringify(value), at: turn.now };
  return accepted({ value, changes: [...changes, ...keep(turn, answer)] });
}

function answerBefore({ actor, once }: Command<unknown>, { state, now }: Turn): Result<Decision<unknown>> | null {
  if (once === undefined) return null;
  const known = state.answers.get(answerKey({ actor, key: once.key }));
  if (known === undefined || known.at + KEPT_MS <= now) return null;
  if (known.request === once.request) return accepted({ value: JSON.parse(known.answer) as unknown, changes: [] });
  return refused({
    code: "idempotency-key-reused",
    at: "idempotency-key",
    message: "this key came with another request before",
    remedy: "use a new key for every request, and the same key only to repeat one",
  });
}

function keep({ state, now }: Turn, answer: KeptAnswer): LedgerChange[] {
  const changes: LedgerChange[] = [];
  const before = state.answers.get(answerKey(answer)) ?? null;
  for (const old of state.answers.values()) {
    const full = state.answers.size - changes.length >= KEPT_MAX;
    if ((old.at + KEPT_MS > now && !full) || changes.length >= DROPPED_AT_ONCE) break;
    if (old !== before) changes.push({ table: "answer", before: old, after: null });
  }
  return [...changes, { table: "answer", before, after: answer }];
}

function checkTag({ ifMatch, current }: Command<unknown>, state: LedgerState): Result<never> | null {
  if (ifMatch === undefined || current === undefined || ifMatch.includes("*")) return null;
  const tag = current(state);
  if (typeof tag !== "string") return null; // the decision says what is not there
  if (ifMatch.includes(tag)) return null;
  return refused({
    code: "precondition-failed",
    at: "if-match",
    message: "it was changed since you looked at it",
    remedy: "look at it again, then repeat the change with its new ETag",
  });
}
