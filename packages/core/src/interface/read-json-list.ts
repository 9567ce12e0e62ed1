import { accepted, refused, type Result } from "../problem.js";
import { NO_JSON, parseTolerantJson } from "./tolerant-json.js";

/**
 * Reads the JSON list that iproute2 prints, more lists right after it (`ip -4` and `ip -6` into one file), and nothing after those: some
 * builds append warnings. Elements that are no object, or empty (`{}` stands for what a filter left out), are dropped.
 */
export function readJsonList(text: string, at: string): Result<readonly Readonly<Record<string, unknown>>[]> {
  const start = text.indexOf("[");
  const end = start < 0 ? -1 : listEnd(text, start);
  if (end < 0) return refused(unreadable(at, "it is no complete JSON list"));
  const list = parseJson(text.slice(start, end));
  if (list === NO_JSON) return refused(unreadable(at, "it is no JSON"));
  const found = records(list);
  const rest = text.slice(end).trimStart();
  const more = rest.startsWith("[") ? readJsonList(rest, at) : null;
  return accepted(more?.ok === true ? [...found, ...more.value] : found);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return parseTolerantJson(text);
    throw error;
  }
}

/** The elements of a list that are objects with at least one member. */
export function records(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  if (!Array.isArray(value)) return [];
  return value.filter(isRecord).filter((member) => Object.keys(member).length > 0);
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function textMember(record: Readonly<Record<string, unknown>>, name: string): string | null {
  const value = record[name];
  return typeof value === "string" && value !== "" ? value : null;
}

export function numberMember(record: Readonly<Record<string, unknown>>, name: string): number | null {
  const value = record[name];
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

/** Index after the bracket that closes the list, brackets inside strings not counted; -1 without one. */
function listEnd(text: string, start: number): number {
  let depth = 0;
  let quoted = false;
  for (let i = start; i < text.length; i++) {
    const c = text[i];
    if (quoted) {
      if (c === "\\") i++;
      else if (c === '"') quoted = false;
    } else if (c === '"') quoted = true;
    else if (c === "[" || c === "{") depth++;
    else if (c === "]" || c === "}") {
      depth--;
      if (depth === 0) return i + 1;
    }
  }
  return -1;
}

function unreadable(at: string, why: string): { code: string; at: string; message: string; remedy: string } {
  return {
    code: "ip-output-unreadable",
    at,
    message: `the output of ip cannot be read: ${why.slice(0, 200)}`,
    remedy: "pass what 'ip -json -details addr' or 'ip addr' prints",
  };
}
