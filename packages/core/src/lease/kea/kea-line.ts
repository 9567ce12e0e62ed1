import { addressFamily, parseIpAddress, type IpAddress } from "../../address/ip.js";
import { boundedTime } from "../dhcpd/time-value.js";
import { networkOf, type IpPrefix } from "../../address/prefix.js";
import type { BindingState, Lease, Lease4, Lease6, Lease6Type, LeaseHardware, LeaseTime, LeaseValue } from "../model.js";
import { encodeUtf8 } from "../octets.js";

/**
 * One line of Kea's memfile lease file (Kea ARM, "Memfile - Basic Storage for Leases"). Columns are found by the names in the header,
 * because they grow with versions; a file of an older Kea has fewer.
 */

/** Column names of a header, and which server wrote it. */
export interface KeaColumns {
  readonly family: 4 | 6;
  readonly at: ReadonlyMap<string, number>;
}

/** What one line says: the lease now, or that there is none any more, or why it cannot be used. */
export type KeaLine =
  | { readonly kind: "lease"; readonly lease: Lease }
  | { readonly kind: "deleted"; readonly key: string }
  | { readonly kind: "damaged"; readonly why: string };

/** Lifetime that means for ever. */
const INFINITE = 4_294_967_295;

/** Kea's numbers of states; 4 (registered, for addresses that clients made themselves) binds nothing that we could give away. */
const STATES: readonly (BindingState | "unknown")[] = ["active", "abandoned", "expired", "released", "active"];

const TYPES: readonly Lease6Type[] = ["na", "ta", "pd"];

const HEADER = "address,";

/** Whether a file that begins with these octets is Kea's: its first line names the columns, and no declaration of dhcpd begins so. */
export function isKeaHead(octets: Uint8Array): boolean {
  for (let i = 0; i < HEADER.length; i++) if (octets[i] !== HEADER.charCodeAt(i)) return false;
  return true;
}

/** Null when the line is no header. */
export function parseKeaHeader(line: string): KeaColumns | null {
  if (!line.startsWith(HEADER)) return null;
  const names = line.split(",");
  return { family: names.includes("duid") ? 6 : 4, at: new Map(names.map((name, index) => [name.trim(), index])) };
}

/** Reads one line strictly: a value that is no number, address or hex where one must be makes the line damaged. */
export function parseKeaLine(line: string, columns: KeaColumns): KeaLine {
  const fields = line.split(",");
  const column = (name: string): string | null => fields[columns.at.get(name) ?? fields.length] ?? null;
  const address = parseIpAddress(column("address") ?? "");
  if (address === null || addressFamily(address) !== columns.family) return damaged("its address is none");
  const lifetime = wholeNumber(column("valid_lifetime"));
  const expire = wholeNumber(column("expire"));
  if (lifetime === null || expire === null) return damaged("its lifetime or its end is no number");
  const state = column("state") === null ? 0 : wholeNumber(column("state"));
  if (state === null) return damaged("its state is no number");
  const common: Common = {
    address,
    lifetime,
    bindingState: STATES[state] ?? "unknown",
    cltt: boundedTime(expire - lifetime),
    ends: lifetime === INFINITE ? "never" : boundedTime(expire),
  };
  return columns.family === 4 ? lineOf4(common, column) : lineOf6(common, column);
}

interface Common {
  readonly address: IpAddress;
  readonly lifetime: number;
  readonly bindingState: BindingState | "unknown";
  readonly cltt: LeaseTime;
  readonly ends: LeaseTime;
}

type Column = (name: string) => string | null;

function lineOf4(common: Common, column: Column): KeaLine {
  const { address, lifetime, bindingState, cltt, ends } = common;
  if (lifetime === 0) return { kind: "deleted", key: address };
  const octets = parseColonHex(column("hwaddr") ?? "");
  const clientId = parseColonHex(column("client_id") ?? "");
  if (octets === null || clientId === null) return damaged("its hardware address or client identifier is no hex");
  const hostname = unescapeKea(column("hostname") ?? "");
  const lease: Lease4 = {
    family: 4,
    key: address,
    address,
    bindingState,
    nextBindingState: null,
    rewindBindingState: null,
    starts: cltt,
    ends,
    cltt,
    tstp: null,
    tsfp: null,
    atsfp: null,
    hardware: hardwareOf(octets),
    clientId: clientId.length === 0 ? null : clientId,
    clientHostname: hostname === "" ? null : encodeUtf8(hostname),
    bootp: false,
    reserved: false,
    sets: contextOf(column),
    agent: NOTHING,
    partnered: false,
  };
  return { kind: "lease", lease };
}

function lineOf6(common: Common, column: Column): KeaLine {
  const { address, lifetime, bindingState, cltt, ends } = common;
  const type = TYPES[wholeNumber(column("lease_type")) ?? TYPES.length];
  const length = wholeNumber(column("prefix_len") ?? "128");
  const iaid = wholeNumber(column("iaid"));
  const duid = parseColonHex(column("duid") ?? "");
  if (type === undefined || length === null || length > 128 || iaid === null || duid === null) {
    return damaged("its type, prefix length, IAID or DUID is not readable");
  }
  const prefix = type === "pd" ? (`${networkOf(address, length)}/${length}` as IpPrefix) : null;
  const key = prefix ?? address;
  if (lifetime === 0) return { kind: "deleted", key };
  const lease: Lease6 = {
    family: 6,
    key,
    type,
    address,
    prefix,
    iaid,
    duid,
    bindingState,
    cltt,
    ends,
    preferredLife: wholeNumber(column("pref_lifetime")),
    maxLife: lifetime,
  };
  return { kind: "lease", lease };
}

const NOTHING: ReadonlyMap<string, LeaseValue> = new Map();

/** What a hook or the server itself keeps with the lease, as the JSON text it is. */
function contextOf(column: Column): ReadonlyMap<string, LeaseValue> {
  const context = unescapeKea(column("user_context") ?? "");
  return context === "" ? NOTHING : new Map([["user-context", context]]);
}

/** The file does not name the type; six octets are Ethernet's and twenty InfiniBand's (RFC 4391 §9). */
function hardwareOf(octets: Uint8Array): LeaseHardware | null {
  if (octets.length === 0) return null;
  return { type: octets.length === 6 ? "ethernet" : octets.length === 20 ? "infiniband" : "unknown", octets };
}

/** Kea writes a comma as `&#x2c`, and so every character that its format cannot hold: two hex digits, no semicolon. */
function unescapeKea(text: string): string {
  return text.replace(/&#x([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

function parseColonHex(text: string): Uint8Array | null {
  if (text === "") return new Uint8Array();
  if (!/^[0-9a-f]{1,2}(:[0-9a-f]{1,2})*$/i.test(text)) return null;
  return Uint8Array.from(text.split(":"), (octet) => Number.parseInt(octet, 16));
}

function wholeNumber(text: string | null): number | null {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null;
}

function damaged(why: string): KeaLine {
  return { kind: "damaged", why };
}
