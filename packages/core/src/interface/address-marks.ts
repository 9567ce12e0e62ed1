import type { IpAddress } from "../address/ip.js";
import type { HostInterface, InterfaceAddress } from "./model.js";

/** RFC 6890: loopback and link-local blocks of both families, as their canonical text begins. */
const LOCAL_BLOCKS: readonly (readonly [RegExp, string])[] = [
  [/^127\./, "127.0.0.0/8"],
  [/^169\.254\./, "169.254.0.0/16"],
  [/^::1$/, "::1"],
  [/^fe[89ab][0-9a-f]:/, "fe80::/10"],
];

/** Interfaces that container and VM engines make and name. */
const CONTAINER_NAMES = /^(docker|podman|cni|lxdbr|incusbr|lxcbr|virbr|cali|flannel|veth|vnet)|^br-[0-9a-f]{12}$/;

/** linkinfo kinds of tunnels and overlays (ip-link(8)). */
const TUNNEL_KINDS = new Set(
  "tun wireguard ppp ipip sit gre gretap ip6gre ip6gretap ip6tnl vti vti6 xfrm vxlan geneve".split(" "),
);
/** The same by name, for outputs that do not tell the kind. */
const TUNNEL_NAMES =
  /^(tun|wg|ppp|tailscale|zt|nebula|tunl|sit|gre|vxlan|wireguard)[0-9.]|^zt[0-9a-z]{8,}$|^(vxlan|wireguard)\.cali$/;

/** VRRP's own hardware addresses, IPv4 and IPv6 (RFC 9568 §7.3). */
const VRRP_HARDWARE = /^00:00:5e:00:0[12]:/;
/** How keepalived names the macvlan of `use_vmac` (keepalived.conf(5)). */
const VRRP_NAME = /^vrrp6?\.\d+/;

/** Why the address means nothing beyond the host or its link; null when it does. */
export function localMark(observed: InterfaceAddress): string | null {
  if (observed.scope === "host" || observed.scope === "link") return `scope ${observed.scope}`;
  const block = localBlock(observed.address);
  return block === null ? null : `inside ${block}`;
}

/** The loopback or link-local block around an address; null for every other address. */
export function localBlock(address: IpAddress): string | null {
  return LOCAL_BLOCKS.find(([beginning]) => beginning.test(address))?.[1] ?? null;
}

/** By name only: an eth0 that happens to be a veth is an ordinary NIC of a container that is a whole host. */
export function containerMark(entry: HostInterface): string | null {
  return CONTAINER_NAMES.test(entry.name) ? `${entry.name} is named like a container engine's interface` : null;
}

export function pointToPointMark(entry: HostInterface, observed: InterfaceAddress): string | null {
  if (observed.peer !== null) return `has the peer ${observed.peer}`;
  if (entry.flags.includes("POINTOPOINT")) return `${entry.name} is a point-to-point link`;
  return tunnelMark(entry);
}

export function tunnelMark(entry: HostInterface): string | null {
  if (entry.kind !== null && TUNNEL_KINDS.has(entry.kind)) return `${entry.name} is a tunnel or overlay (${entry.kind})`;
  return entry.kind === null && TUNNEL_NAMES.test(entry.name) ? `${entry.name} is named like a tunnel or overlay` : null;
}

/** Marks that only a VIP's manager leaves. */
export function virtualMark(entry: HostInterface, observed: InterfaceAddress): string | null {
  if (entry.hardwareAddress !== null && VRRP_HARDWARE.test(entry.hardwareAddress)) {
    return `${entry.name} has the VRRP hardware address ${entry.hardwareAddress}`;
  }
  if (VRRP_NAME.test(entry.name)) return `${entry.name} is keepalived's interface of a virtual router`;
  if (observed.protocol === "keepalived") return "the kernel has it from keepalived";
  return observed.label?.endsWith(":vip") === true ? `its label is ${observed.label}` : null;
}

/** lo, dummy, kube-ipvs0: an address there is reachable only because somebody routes to it or answers for it. */
export function isUnattached(entry: HostInterface): boolean {
  return entry.flags.includes("LOOPBACK") || entry.kind === "dummy" || /^(lo|dummy\d+|kube-ipvs0)$/.test(entry.name);
}
