import { parseHardwareAddress, type HardwareAddress } from "../address/hardware.js";
import { addressBits, addressFamily, parseIpAddress } from "../address/ip.js";
import { accepted, refused, type Result } from "../problem.js";
import type { HostInterface, InterfaceAddress } from "./model.js";
import { identity, parentLink } from "./parse-address-json.js";

type Writable<T> = { -readonly [K in keyof T]: T[K] };
type Draft = Writable<HostInterface> & { addresses: Writable<InterfaceAddress>[]; link: string | null; master: string | null };

/** Words that take the next one with them on an `inet` line (iproute2 ip/ipaddress.c). */
const PAIRS = new Set(["peer", "metric", "brd", "any", "scope", "proto", "flags"]);
/** Words of an `inet` line that are flags, never a label. */
const FLAGS = new Set([
  "secondary",
  "temporary",
  "tentative",
  "deprecated",
  "home",
  "nodad",
  "mngtmpaddr",
  "noprefixroute",
  "autojoin",
  "dynamic",
  "dadfailed",
  "optimistic",
  "stable-privacy",
  "permanent",
]);
/** First words of the line that `-details` adds under a link. */
const KINDS =
  /^(vlan|bridge|bond|veth|macvlan|macvtap|ipvlan|dummy|tun|vxlan|wireguard|ipoib|geneve|gre|gretap|ip6tnl|ipip|sit|vrf|macsec)\b/;

/**
 * Reads the text of `ip addr` and `ip -o addr`, old and new, with and without `-details`. What the text does not say (flags and hardware
 * address in the one-line form) stays unknown.
 */
export function parseAddressText(text: string, at = "ip addr"): Result<readonly HostInterface[]> {
  const interfaces = new Map<string, Draft>();
  let current: Draft | null = null;
  let address: Writable<InterfaceAddress> | null = null;
  for (const raw of text.split(/\r?\n|\\/)) {
    const numbered = /^(\d+):\s+(\S+?)(:)?\s+(.*)$/.exec(raw.trimEnd());
    if (numbered !== null) {
      current = openInterface(interfaces, numbered);
      address = null;
    }
    const line = (numbered === null ? raw : (numbered[4] ?? "")).trim();
    if (current === null) continue;
    if (numbered?.[3] === ":") readLinkHead(current, line);
    else if (/^inet6?\s/.test(line)) {
      address = parseAddressLine(line);
      if (address !== null) current.addresses.push(address);
    } else if (line.startsWith("valid_lft ")) readLifetimes(address, line);
    else readLinkLine(current, line);
  }
  if (interfaces.size === 0 && text.trim() !== "") {
    return refused({
      code: "ip-output-unreadable",
      at,
      message: "no interface in it: this is not the output of ip addr",
      remedy: "pass what 'ip -json -details addr' or 'ip addr' prints",
    });
  }
  return accepted([...interfaces.values()].map(finish));
}

function openInterface(interfaces: Map<string, Draft>, numbered: RegExpExecArray): Draft {
  const [name, link] = splitName(numbered[2] ?? "");
  const known = interfaces.get(name);
  if (known !== undefined) return known;
  const opened: Draft = {
    name,
    index: Number(numbered[1]),
    parent: null,
    kind: null,
    vlanId: null,
    hardwareAddress: null,
    permanentAddress: null,
    flags: [],
    mtu: null,
    addresses: [],
    link,
    master: null,
  };
  interfaces.set(name, opened);
  return opened;
}

/** `eth0.100@eth0` hangs on eth0; `@if12` (in another namespace) and `@NONE` name nothing here. */
function splitName(text: string): [string, string | null] {
  const at = text.lastIndexOf("@");
  if (at <= 0) return [text, null];
  const link = text.slice(at + 1);
  return [text.slice(0, at), /^(if\d+|NONE)$/.test(link) ? null : link];
}

function readLinkHead(draft: Draft, line: string): void {
  const flags = /^<([^>]*)>/.exec(line)?.[1];
  draft.flags = flags === undefined || flags === "" ? [] : flags.split(",");
  const mtu = /\bmtu (\d+)/.exec(line)?.[1];
  draft.mtu = mtu === undefined ? null : Number(mtu);
  draft.master = /\bmaster (\S+)/.exec(line)?.[1] ?? null;
}

function readLinkLine(draft: Draft, line: string): void {
  const link = /^link\/(\S+)\s*(\S*)/.exec(line);
  if (link !== null) {
    draft.hardwareAddress = link[1] === "loopback" ? null : hardware(link[2]);
    draft.permanentAddress = hardware(/\bpermaddr (\S+)/.exec(line)?.[1]);
    return;
  }
  const kind = KINDS.exec(line)?.[1];
  if (kind === undefined) return;
  draft.kind = kind;
  const id = kind === "vlan" ? /\bid (\d+)/.exec(line)?.[1] : undefined;
  draft.vlanId = id === undefined ? null : Number(id);
}

function hardware(text: string | undefined): HardwareAddress | null {
  return text === undefined || text === "" ? null : parseHardwareAddress(text);
}

function parseAddressLine(line: string): Writable<InterfaceAddress> | null {
  const [family, own, ...words] = line.split(/\s+/);
  const pairs = new Map<string, string>();
  const rest: string[] = [];
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? "";
    if (PAIRS.has(word) && i + 1 < words.length) pairs.set(word, words[++i] ?? "");
    else rest.push(word);
  }
  const [addressText = "", ownLength] = (own ?? "").split("/");
  const [peerText, peerLength] = (pairs.get("peer") ?? "").split("/");
  const address = parseIpAddress(addressText);
  if (address === null) return null;
  const width = addressBits(addressFamily(address));
  const prefixLength = Number(ownLength ?? peerLength ?? width);
  if (!Number.isInteger(prefixLength) || prefixLength > width) return null;
  const last = rest.at(-1);
  const label = family === "inet" && last !== undefined && !FLAGS.has(last) ? last : null;
  return {
    address,
    prefixLength,
    peer: peerText === undefined || peerText === "" ? null : parseIpAddress(peerText),
    broadcast: parseIpAddress(pairs.get("brd") ?? ""),
    scope: pairs.get("scope") ?? "global",
    label,
    flags: label === null ? rest : rest.slice(0, -1),
    protocol: pairs.get("proto") ?? null,
    validLifetime: null,
    preferredLifetime: null,
  };
}

function readLifetimes(address: Writable<InterfaceAddress> | null, line: string): void {
  if (address === null) return;
  address.validLifetime = seconds(/\bvalid_lft (\S+)/.exec(line)?.[1]);
  address.preferredLifetime = seconds(/\bpreferred_lft (\S+)/.exec(line)?.[1]);
}

function seconds(text: string | undefined): number | null {
  const number = /^(\d+)sec$/.exec(text ?? "")?.[1];
  return number === undefined ? null : Number(number);
}

function finish({ link, master, ...draft }: Draft): HostInterface {
  const parent = parentLink(draft.kind, link, master);
  return { ...draft, parent, hardwareAddress: identity(draft.flags, draft.permanentAddress, draft.hardwareAddress) };
}
