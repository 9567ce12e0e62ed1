import { parseHardwareAddress, type HardwareAddress } from "../address/hardware.js";
import { addressBits, addressFamily, parseIpAddress, type IpAddress } from "../address/ip.js";
import { accepted, type Result } from "../problem.js";
import type { HostInterface, InterfaceAddress } from "./model.js";
import { isRecord, numberMember, readJsonList, records, textMember } from "./read-json-list.js";

type Member = Readonly<Record<string, unknown>>;

/** What iproute2 prints for a lifetime without end: INFINITY_LIFE_TIME, 2^32 - 1 seconds. */
const FOREVER = 4_294_967_295;

/**
 * Reads `ip -json -details address` (ip-address(8)). Unknown members are ignored, missing ones become null, elements without a name or
 * without an address are dropped: a kernel or an iproute2 newer than this code must not blind the rack.
 */
export function parseAddressJson(text: string, at = "ip addr"): Result<readonly HostInterface[]> {
  const list = readJsonList(text, at);
  if (!list.ok) return list;
  return accepted(list.value.map(parseInterface).filter((entry) => entry !== null));
}

function parseInterface(entry: Member): HostInterface | null {
  const name = textMember(entry, "ifname");
  if (name === null) return null;
  const linkKind = isRecord(entry.linkinfo) ? entry.linkinfo : {};
  const linkDetails = isRecord(linkKind.info_data) ? linkKind.info_data : {};
  const kind = textMember(linkKind, "info_kind");
  const flags = Array.isArray(entry.flags) ? entry.flags.filter((flag) => typeof flag === "string") : [];
  const permanentAddress = hardwareMember(entry, "permaddr");
  return {
    name,
    index: numberMember(entry, "ifindex"),
    parent: parentLink(kind, textMember(entry, "link"), textMember(entry, "master")),
    kind,
    vlanId: kind === "vlan" ? numberMember(linkDetails, "id") : null,
    hardwareAddress: identity(flags, permanentAddress, ownAddress(entry)),
    permanentAddress,
    flags,
    mtu: numberMember(entry, "mtu"),
    addresses: records(entry.addr_info)
      .map(parseAddress)
      .filter((address) => address !== null),
  };
}

/** The slaves of a bond all wear the bond's address; what tells them apart is the permanent one. */
export function identity(
  flags: readonly string[],
  permanent: HardwareAddress | null,
  current: HardwareAddress | null,
): HardwareAddress | null {
  return flags.includes("SLAVE") && permanent !== null ? permanent : current;
}

/** The `link` of a veth is its other end, no lower interface; a VLAN or macvlan that is a bridge port has both and stays with its NIC. */
export function parentLink(kind: string | null, link: string | null, master: string | null): string | null {
  if (kind === "veth") return master;
  return kind === "vlan" || kind === "macvlan" ? (link ?? master) : (master ?? link);
}

/** Loopback's all-zero address and a tunnel's IP address are nobody's hardware. */
function ownAddress(entry: Member): HardwareAddress | null {
  return textMember(entry, "link_type") === "loopback" ? null : hardwareMember(entry, "address");
}

function hardwareMember(entry: Member, name: string): HardwareAddress | null {
  const text = textMember(entry, name);
  return text === null ? null : parseHardwareAddress(text);
}

function parseAddress(entry: Member): InterfaceAddress | null {
  const address = ipMember(entry, "local") ?? ipMember(entry, "address");
  if (address === null) return null;
  const width = addressBits(addressFamily(address));
  const other = ipMember(entry, "address");
  const prefixLength = numberMember(entry, "prefixlen") ?? width;
  if (!Number.isInteger(prefixLength) || prefixLength < 0 || prefixLength > width) return null;
  return {
    address,
    prefixLength,
    peer: other === address ? null : other,
    broadcast: ipMember(entry, "broadcast"),
    scope: textMember(entry, "scope") ?? "global",
    label: textMember(entry, "label"),
    flags: Object.keys(entry).filter((name) => entry[name] === true),
    protocol: textMember(entry, "protocol") ?? textMember(entry, "proto"),
    validLifetime: lifetime(entry, "valid_life_time"),
    preferredLifetime: lifetime(entry, "preferred_life_time"),
  };
}

function ipMember(entry: Member, name: string): IpAddress | null {
  const text = textMember(entry, name);
  return text === null ? null : parseIpAddress(text);
}

function lifetime(entry: Member, name: string): number | null {
  const seconds = numberMember(entry, name);
  return seconds === FOREVER ? null : seconds;
}
