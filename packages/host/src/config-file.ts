import { LineCounter, parseDocument, type Document } from "yaml";
import type { z } from "zod";
import { EnvironmentError } from "./errors.js";
import type { Files } from "./files.js";

/** One thing that is wrong in a configuration file; `at` is `FILE:LINE: key.path`. */
export interface ConfigProblem {
  readonly code: "config-syntax" | "config-unknown-key" | "config-invalid";
  readonly at: string;
  readonly message: string;
  readonly remedy?: string;
}

export type ConfigResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly ConfigProblem[] };

export interface ConfigSource {
  readonly path: string;
  /** The annotated file that documents every key, named to whoever writes an unknown one. */
  readonly reference: string;
  /** Words for a value that the schema refuses. */
  readonly issueText: (issue: z.core.$ZodIssue) => string;
}

const CONFIG_MAX = 1024 * 1024;

/** Reads a YAML or JSON file and checks it whole: all problems at once, each with its line. Throws when it cannot be read at all. */
export async function readConfigFile<T extends z.ZodType>(
  files: Files,
  source: ConfigSource,
  schema: T,
): Promise<ConfigResult<z.output<T>>> {
  const content = await files.read(source.path, CONFIG_MAX);
  if (content === null) {
    const remedy = `write it; ${source.reference} documents every key`;
    throw new EnvironmentError("config-missing", source.path, `there is no ${source.path}`, { remedy });
  }
  return parseConfig(Buffer.from(content).toString("utf8"), source, schema);
}

export function parseConfig<T extends z.ZodType>(text: string, source: ConfigSource, schema: T): ConfigResult<z.output<T>> {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  if (document.errors.length > 0) {
    const problems = document.errors.map(
      (error): ConfigProblem => ({
        code: "config-syntax",
        at: `${source.path}:${error.linePos?.[0].line ?? 1}`,
        message: error.message.split("\n")[0] ?? "not YAML",
      }),
    );
    return { ok: false, problems };
  }
  const parsed = schema.safeParse(document.toJS({ maxAliasCount: 16 }) ?? {});
  if (parsed.success) return { ok: true, value: parsed.data };
  const found = parsed.error.issues.flatMap((issue) => issueProblems(issue, source));
  const placed = found.map((problem) => ({ ...problem, line: lineOf(document, lines, problem.keys) }));
  const problems = placed
    .sort((a, b) => a.line - b.line)
    .map(
      ({ keys, line, ...problem }): ConfigProblem => ({
        ...problem,
        at: `${source.path}:${line}: ${keys.map(String).join(".") || "(top level)"}`,
      }),
    );
  return { ok: false, problems };
}

type UnplacedProblem = Omit<ConfigProblem, "at"> & { readonly keys: readonly PropertyKey[] };

function issueProblems(issue: z.core.$ZodIssue, { issueText, reference }: ConfigSource): UnplacedProblem[] {
  if (issue.code !== "unrecognized_keys") return [{ code: "config-invalid", keys: issue.path, message: issueText(issue) }];
  const remedy = `${reference} lists every key`;
  return issue.keys.map((key) => ({ code: "config-unknown-key", keys: [...issue.path, key], message: "no such key", remedy }));
}

/** The line of the innermost node on the way to a key that is there. */
function lineOf(document: Document, lines: LineCounter, keys: readonly PropertyKey[]): number {
  for (let depth = keys.length; depth > 0; depth--) {
    const node: unknown = document.getIn(keys.slice(0, depth), true);
    if (typeof node === "object" && node !== null && "range" in node && Array.isArray(node.range)) {
      return lines.linePos(Number(node.range[0])).line;
    }
  }
  return 1;
}
