import { inspect } from "node:util";

/**
 * The world failed us: a file, a command, a socket. Carries what was tried, on what, and the cause. Refusals are returned values, not errors.
 */
export class EnvironmentError extends Error {
  override readonly name = "EnvironmentError";
  /** Stable kebab-case, for logs, problems and exit codes. */
  readonly code: string;
  /** The file, command or socket. */
  readonly at: string;
  /** What an operator can do about it, where we know. */
  readonly remedy: string | undefined;

  constructor(code: string, at: string, message: string, options: { readonly cause?: unknown; readonly remedy?: string } = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.at = at;
    this.remedy = options.remedy;
  }
}

/** The system's name of an error (`ENOENT`), or null. */
export function errnoOf(error: unknown): string | null {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : null;
}

/** One line with the chain of causes. */
export function describeError(error: unknown): string {
  const parts: string[] = [];
  for (let e: unknown = error; e !== undefined && parts.length < 5; e = e instanceof Error ? e.cause : undefined) {
    parts.push(e instanceof Error ? e.message : inspect(e));
  }
  return parts.join(": ");
}

/** What a command tells a person about it: what, where, why, and on a second line what to do. */
export function failureText(error: EnvironmentError): string {
  const remedy = error.remedy === undefined ? "" : `  remedy: ${error.remedy}\n`;
  const text = describeError(error);
  const where = text.startsWith(error.at) ? "" : `${error.at}: `; // many a sentence begins with it
  return `error: ${where}${text} [${error.code}]\n${remedy}`;
}
