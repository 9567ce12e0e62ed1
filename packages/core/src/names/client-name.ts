import { checkHostName, foldName } from "./host-name.js";
import { parsePremade } from "./premade.js";

/** What a client may never call itself: proxy discovery, tunnels and name servers steer other machines. */
const RESERVED = /^(?:wpad|isatap|ns\d*|localdomain)$/;

/**
 * The label under which a client's own host name may stand in a zone, or null when it may not. A client's name is hostile input: it
 * is taken only if it is a plain label as it stands (of a qualified name, its first label); nothing is repaired, because two different names
 * could then become one. `taken` holds labels that belong to somebody else: racks, machines, operators' records.
 */
export function dnsLabelOf(clientHostname: string | null, taken: ReadonlySet<string> = NONE): string | null {
  if (clientHostname === null) return null;
  const name = foldName(clientHostname.replace(/^[\s\0]+|[\s\0]+$/g, ""));
  if (checkHostName(name).length > 0) return null;
  const label = name.split(".")[0] ?? "";
  return RESERVED.test(label) || parsePremade(label) !== null || taken.has(label) ? null : label;
}

const NONE: ReadonlySet<string> = new Set();
