import type { Problem } from "../problem.js";

/** Stands before and after a snippet in the file. */
const BEGIN = "# Operator's lines for subnet ";
const END = "# End of operator's lines";

/** What {@link refusalOf} looks for. A snippet that holds such a line itself can only mislead its own operator about the line. */
export function snippetMarks(prefix: string): { readonly before: string; readonly after: string } {
  return { before: `${BEGIN}${prefix}`.slice(2), after: END.slice(2) };
}

/**
 * Reads what `dhcpd -t` wrote on stderr about a file of ours, and says it with a place that leads somewhere: an operator's own line where the fault is
 * in a snippet, else the line of the file. `path` is the file as people know it.
 */
export function refusalOf(text: string, stderr: string, path: string): Problem {
  const found = /^\S+ line (\d+): (.+)$/m.exec(stderr);
  if (found === null) {
    const words = stderr.split("\n").find((line) => line.trim() !== "" && !BANNER.test(line)) ?? "";
    return {
      code: "dhcpd-check-failed",
      at: path,
      message: `dhcpd refuses the file: ${printable(words) || "without a word"}`,
      remedy: REMEDY,
    };
  }
  const line = Number(found[1]);
  const message = `dhcpd refuses the file: ${printable(found[2] ?? "")}`;
  const own = operatorsLine(text, line);
  if (own === null) return { code: "dhcpd-check-failed", at: `${path}:${line}`, message, remedy: REMEDY };
  return {
    code: "snippet-refused",
    at: `subnet ${own.prefix} snippet line ${own.line}`,
    message,
    remedy: "correct the subnet's snippet",
  };
}

/** What dhcpd says at every start. */
const BANNER = /^(Internet Systems Consortium|Copyright|All rights reserved|For info|If you think)/;

const REMEDY = "the file that runs is untouched; correct the subnet named there";

function operatorsLine(text: string, line: number): { readonly prefix: string; readonly line: number } | null {
  const lines = text.split("\n");
  for (let at = Math.min(line, lines.length) - 1; at >= 0; at--) {
    const content = lines[at]?.trim() ?? "";
    // dhcpd names the line at which it noticed: a fault of the snippet's last statement shows one line below.
    if (content === END && at < line - 2) return null;
    if (content.startsWith(BEGIN)) return { prefix: content.slice(BEGIN.length), line: Math.max(1, line - at - 1) };
  }
  return null;
}

function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, "?").slice(0, 300);
}
