import { printable } from "@berth/core";
import type { Problem } from "@berth/core";
import type { TextSink } from "../cli-ports.js";

const RED = "\u001b[31m";
const PLAIN = "\u001b[39m";

/** `error: PLACE: sentence [code]`, and what to do about it on the next line; one such block a problem. */
export function printProblems(sink: TextSink, problems: readonly Problem[], colour: boolean): void {
  const label = colour && sink.isTerminal ? `${RED}error:${PLAIN}` : "error:";
  for (const { code, at, message, remedy } of problems) {
    sink.write(`${label} ${printable(at)}: ${printable(message)} [${printable(code)}]\n`);
    if (remedy !== undefined) sink.write(`  remedy: ${printable(remedy)}\n`);
  }
}
