import type { Result } from "../problem.js";
import type { HostInterface } from "./model.js";
import { parseAddressJson } from "./parse-address-json.js";
import { parseAddressText } from "./parse-address-text.js";

/** `ip -color` marks addresses and names with escape sequences (ECMA-48 SGR). */
const COLOURS = /\u001b\[[0-9;]*m/g;

/** Reads what `ip addr` printed, JSON or text. An empty text is an empty list: whether that is believable is the caller's question. */
export function parseInterfaces(text: string, at = "ip addr"): Result<readonly HostInterface[]> {
  const start = withoutColours(text).trimStart();
  return start.startsWith("[") ? parseAddressJson(start, at) : parseAddressText(start, at);
}

function withoutColours(text: string): string {
  return text.replace(/^\uFEFF/, "").replace(COLOURS, "");
}
