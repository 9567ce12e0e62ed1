import { accepted, refused, type Result } from "../problem.js";
import { shownText } from "./import-row.js";

/**
 * The records of a JSON export: a list, a page of a REST API (`results`), or an object of such lists under any names. A page that says
 * there is another one is refused: half an export would be half an import.
 */
export function readJsonRecords(text: string, file: string): Result<readonly unknown[]> {
  let value: unknown;
  try {
    value = JSON.parse(text.startsWith("\ufeff") ? text.slice(1) : text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return refused({
      code: "json-malformed",
      at: file,
      message: `it is not JSON: ${shownText(reason)}`,
      remedy: "export it again",
    });
  }
  const lists: readonly unknown[] = isObject(value) && !("results" in value) ? Object.values(value).filter(isList) : [value];
  if (lists.length === 0 || !lists.every(isList)) {
    const message = "it is neither a list nor an object of lists";
    return refused({
      code: "json-not-a-list",
      at: file,
      message,
      remedy: "export the list, as `maas ... machines read` or /api/.../ does",
    });
  }
  if (lists.some((part) => isObject(part) && typeof part.next === "string")) {
    const message = "this is one page of several";
    return refused({
      code: "json-one-page",
      at: file,
      message,
      remedy: "export with limit=0, or give all pages together as one list",
    });
  }
  return accepted(lists.flatMap((part) => ("results" in part ? part.results : part)));
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isList(value: unknown): value is readonly unknown[] | { readonly results: unknown[]; readonly next?: unknown } {
  return Array.isArray(value) || (isObject(value) && Array.isArray(value.results));
}
