import { decodeLatin1, decodeUtf8 } from "./octets.js";

/** A name the client claimed, as text: UTF-8, else ISO 8859-1. Untrimmed and untrusted: escape it wherever it is shown. */
export function decodeHostname(octets: Uint8Array): string {
  return decodeUtf8(octets) ?? decodeLatin1(octets);
}

/** The name without NULs and blanks around it (some clients send the final NUL); null when nothing is left. */
export function trimHostname(raw: string): string | null {
  const trimmed = raw.replace(/^[\0\s]+|[\0\s]+$/g, "");
  return trimmed === "" ? null : trimmed;
}
