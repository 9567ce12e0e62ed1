import { addressBits, addressFamily, parseIpAddress, type IpAddress } from "../address/ip.js";
import { prefixAround, type IpPrefix } from "../address/prefix.js";
import { accepted, type Result } from "../problem.js";
import type { HostRoute } from "./model.js";
import { isRecord, numberMember, readJsonList, textMember } from "./read-json-list.js";

/** Route types of ip-route(8) that may stand before the destination. Only unicast ones lead anywhere. */
const TYPES = new Set(["unicast", "local", "broadcast", "multicast", "throw", "unreachable", "prohibit", "blackhole", "nat"]);

/**
 * Reads `ip -json route` (one list, or one a family) or the text of `ip route`. Routes that lead nowhere and
 * lines that are no route are left out.
 */
export function parseRoutes(text: string, at = "ip route"): Result<readonly HostRoute[]> {
  const start = text.replace(/^\uFEFF/, "").trimStart();
  if (!start.startsWith("[")) return accepted(start.split(/\r?\n/).flatMap((line) => parseRouteLine(line) ?? []));
  const list = readJsonList(start, at);
  return list.ok ? accepted(list.value.flatMap((entry) => parseRoute(entry) ?? [])) : list;
}

function parseRoute(entry: Readonly<Record<string, unknown>>): HostRoute | null {
  if ((textMember(entry, "type") ?? "unicast") !== "unicast" || isOtherType(entry)) return null;
  const via = isRecord(entry.via) ? textMember(entry.via, "host") : null;
  const gateway = parseIpAddress(textMember(entry, "gateway") ?? via ?? "");
  const preferredSource = parseIpAddress(textMember(entry, "prefsrc") ?? "");
  const destination = parseDestination(textMember(entry, "dst") ?? "", gateway ?? preferredSource);
  if (destination === null) return null;
  return {
    destination,
    gateway,
    interfaceName: textMember(entry, "dev"),
    preferredSource,
    protocol: textMember(entry, "protocol"),
    scope: textMember(entry, "scope"),
    metric: numberMember(entry, "metric"),
  };
}

/** Some releases print the type as a member without a value: `{"broadcast","dst":...}`. */
function isOtherType(entry: Readonly<Record<string, unknown>>): boolean {
  return Object.keys(entry).some((name) => entry[name] === true && name !== "unicast" && TYPES.has(name));
}

function parseRouteLine(line: string): HostRoute | null {
  const words = line.trim().split(/\s+/);
  if (words[0] !== undefined && TYPES.has(words[0]) && words.shift() !== "unicast") return null;
  const [destinationText = "", ...rest] = words;
  const after = (name: string): string | null => {
    const index = rest.indexOf(name);
    return index < 0 ? null : (rest[index + 1] ?? null);
  };
  const via = after("via");
  const gateway = parseIpAddress((via === "inet6" || via === "inet" ? after(via) : via) ?? "");
  const preferredSource = parseIpAddress(after("src") ?? "");
  const destination = parseDestination(destinationText, gateway ?? preferredSource);
  const metric = Number(after("metric") ?? Number.NaN);
  if (destination === null) return null;
  return {
    destination,
    gateway,
    interfaceName: after("dev"),
    preferredSource,
    protocol: after("proto"),
    scope: after("scope"),
    metric: Number.isFinite(metric) ? metric : null,
  };
}

/** `default` is of the family of the address beside it; a bare address is a host route. */
function parseDestination(text: string, beside: IpAddress | null): IpPrefix | null {
  if (text === "default") return (beside !== null && addressFamily(beside) === 6 ? "::/0" : "0.0.0.0/0") as IpPrefix;
  const [addressText = "", length] = text.split("/");
  const address = parseIpAddress(addressText);
  if (address === null) return null;
  const width = addressBits(addressFamily(address));
  const bits = length === undefined ? width : Number(length);
  return Number.isInteger(bits) && bits >= 0 && bits <= width ? prefixAround(address, bits) : null;
}
