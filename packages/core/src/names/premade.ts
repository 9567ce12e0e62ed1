import { addressFamily, parseIpAddress, type IpAddress } from "../address/ip.js";
import { ipv6Parts, pushHexadecimal } from "../address/ipv6-text.js";

const HYPHEN = 45;
const PREFIX = Array.from("ip", (letter) => letter.charCodeAt(0));

/**
 * The label that every address has before any machine does: `ip-192-168-50-60`, or for IPv6 the eight groups without leading
 * zeros and without `::` (`ip-2001-db8-0-0-0-0-0-1`), because a label may not end in a hyphen (RFC 1123 §2.1). Four groups or
 * eight: the two families cannot be mixed up.
 */
export function premadeLabel(address: IpAddress): string {
  if (addressFamily(address) === 4) return `ip-${address.replaceAll(".", "-")}`;
  const units = [...PREFIX];
  for (const part of ipv6Parts(address)) {
    units.push(HYPHEN);
    pushHexadecimal(units, part);
  }
  return String.fromCharCode.apply(null, units);
}

/** The inverse of {@link premadeLabel}: the address whose pre-made label this is, or null. Only the canonical spelling counts. */
export function parsePremade(label: string): IpAddress | null {
  if (label.length > MAX_LENGTH || !label.startsWith("ip-")) return null;
  const groups = label.slice(3).split("-");
  if (groups.length !== 4 && groups.length !== 8) return null;
  const address = parseIpAddress(groups.join(groups.length === 4 ? "." : ":"));
  return address !== null && premadeLabel(address) === label ? address : null;
}

/** `ip-` and eight groups of four with seven hyphens. */
const MAX_LENGTH = 42;
