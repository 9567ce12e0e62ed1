import { issueText } from "../text/issue-text.js";
import type { z } from "zod";
import type { Problem } from "../problem.js";
import { agentMessageSchema, coordinatorMessageSchema, type AgentMessage, type CoordinatorMessage } from "./messages.js";

/** What a frame turned out to be. */
export type Decoded<M> =
  /** `dropped` names the items that were left out because they were not valid; the rest of the message is in force. */
  | { readonly kind: "message"; readonly message: M; readonly dropped: readonly Problem[] }
  /** A newer peer says something we do not know: ignored. */
  | { readonly kind: "unknown"; readonly type: string }
  /** A type we know, but not its content. `sequence` where the frame has one, so that it can be acknowledged and not be sent for ever. */
  | { readonly kind: "invalid"; readonly type: string; readonly sequence: number | null; readonly problems: readonly Problem[] };

/** Lists whose items stand for themselves: a bad one is dropped and named, the others count. */
const ITEM_LISTS: readonly string[] = ["interfaces", "leases", "gone", "daemons", "problems", "answers", "addresses"];
const PROBLEMS_MAX = 64;

const AGENT_TYPES: ReadonlySet<string> = new Set(agentMessageSchema.options.map((option) => option.shape.type.value));
const COORDINATOR_TYPES: ReadonlySet<string> = new Set(coordinatorMessageSchema.options.map((option) => option.shape.type.value));

/** An agent's message from the untrusted value of a frame. */
export function decodeAgentMessage(value: unknown): Decoded<AgentMessage> {
  return decodeMessage(value, AGENT_TYPES, agentMessageSchema);
}

/** A coordinator's message from the value of a frame. */
export function decodeCoordinatorMessage(value: unknown): Decoded<CoordinatorMessage> {
  return decodeMessage(value, COORDINATOR_TYPES, coordinatorMessageSchema);
}

function decodeMessage<M>(value: unknown, types: ReadonlySet<string>, schema: z.ZodType<M>): Decoded<M> {
  const type = isRecord(value) && typeof value.type === "string" ? value.type.slice(0, 64) : null;
  if (!isRecord(value) || type === null)
    return invalid("", null, [{ code: "message-invalid", at: "type", message: "the frame is no message with a type" }]);
  if (!types.has(type)) return { kind: "unknown", type };
  const first = schema.safeParse(value);
  if (first.success) return { kind: "message", message: first.data, dropped: [] };
  const sequence = Number.isSafeInteger(value.sequence) ? (value.sequence as number) : null;
  const rest = dropItems(value, first.error.issues);
  const second = rest === null ? first : schema.safeParse(rest);
  return second.success
    ? { kind: "message", message: second.data, dropped: issueProblems(type, first.error.issues) }
    : invalid(type, sequence, issueProblems(type, first.error.issues));
}

/** The message without the items that issues point at; null when something other than an item is wrong. */
function dropItems(value: Record<string, unknown>, issues: readonly z.core.$ZodIssue[]): Record<string, unknown> | null {
  const bad = new Map<string, Set<number>>();
  for (const { path } of issues) {
    const [list, index] = path;
    if (typeof list !== "string" || typeof index !== "number" || !ITEM_LISTS.includes(list)) return null;
    bad.set(list, (bad.get(list) ?? new Set()).add(index));
  }
  const rest = { ...value };
  for (const [list, indexes] of bad) {
    const items = rest[list];
    if (Array.isArray(items)) rest[list] = items.filter((_, index) => !indexes.has(index));
  }
  return rest;
}

function issueProblems(type: string, issues: readonly z.core.$ZodIssue[]): Problem[] {
  return issues.slice(0, PROBLEMS_MAX).map((issue) => ({
    code: "message-invalid",
    at: [type, ...issue.path].join(".").slice(0, 256),
    message: issueText(issue).slice(0, 1024),
  }));
}

function invalid(type: string, sequence: number | null, problems: readonly Problem[]): Decoded<never> {
  return { kind: "invalid", type, sequence, problems };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}
