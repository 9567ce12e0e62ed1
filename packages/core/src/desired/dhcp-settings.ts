import { z } from "zod";
import { domainNameSchema, ipAddressSchema, ipPrefixSchema } from "./scalar-schemas.js";

/** What fits the `file` field of a DHCP message with its final NUL, RFC 2131 §2. */
export const BOOT_FILE_MAX = 127;

/** `{rack}` in a boot file or URL stands for the address by which the machine reaches its rack. */
export const RACK_PLACE = "{rack}";

const PRINTABLE = /^[\x21-\x7e]+$/;
const bootFileSchema = z.string().max(BOOT_FILE_MAX).regex(PRINTABLE, "not a path or URL in printable ASCII without blanks");
const bootUrlSchema = z
  .string()
  .max(BOOT_FILE_MAX)
  .regex(/^https?:\/\/[\x21-\x7e]+$/, "not an http or https URL in printable ASCII");

/**
 * What a machine loads by the architecture of its firmware (option 93, RFC 4578 §2.1 and the IANA registry of processor architectures). What is not
 * named gets nothing. `{rack}` stands for the rack's address.
 */
export const bootSettingsSchema = z.strictObject({
  /** TFTP server; left out, the rack's own address on the network. */
  nextServer: ipAddressSchema.exactOptional(),
  /** Architecture 0, and PXE clients that name none. */
  bios: bootFileSchema.exactOptional(),
  /** Architectures 7 and 9: firmware uses both for x86-64. */
  uefiX64: bootFileSchema.exactOptional(),
  /** Architecture 11. */
  uefiArm64: bootFileSchema.exactOptional(),
  /** UEFI HTTP boot, architecture 16. */
  httpX64: bootUrlSchema.exactOptional(),
  /** UEFI HTTP boot, architecture 19. */
  httpArm64: bootUrlSchema.exactOptional(),
  /** Script for iPXE, however it was loaded. */
  ipxe: bootFileSchema.exactOptional(),
  /** Installer for switches that speak ONIE. */
  onie: bootUrlSchema.exactOptional(),
});
export type BootSettings = z.infer<typeof bootSettingsSchema>;

const addresses = z.array(ipAddressSchema).min(1).max(16).exactOptional();
const text = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[\x20-\x7e]+$/, "not printable ASCII")
  .exactOptional();

/** More options of RFC 2132 and later, by the names that dhcp-options(5) gives them. Each is checked for its kind. */
export const moreOptionsSchema = z.strictObject({
  "time-offset": z.int().min(-86_400).max(86_400).exactOptional(),
  "time-servers": addresses,
  "log-servers": addresses,
  "netbios-name-servers": addresses,
  "netbios-node-type": z.union([z.literal(1), z.literal(2), z.literal(4), z.literal(8)]).exactOptional(),
  "nis-domain": text,
  "nis-servers": addresses,
  "smtp-server": addresses,
  "root-path": text,
  "tftp-server-name": text,
  "tftp-server-address": addresses,
  pcode: text,
  tcode: text,
  "default-ip-ttl": z.int().min(1).max(255).exactOptional(),
});
export type MoreOptions = z.infer<typeof moreOptionsSchema>;

/** How a network's DHCP is told apart from the plain one: everything an operator may set beside addresses, domain and lease times. */
export const dhcpSettingsSchema = z.strictObject({
  /** Instead of the subnet's gateway; empty is none. */
  routers: z.array(ipAddressSchema).max(16).exactOptional(),
  /** Instead of the subnet's domain alone; empty is none. */
  domainSearch: z.array(domainNameSchema).max(32).exactOptional(),
  /** Octets, option 26: at least 68, RFC 2132 §5.1. */
  mtu: z.int().min(68).max(65_535).exactOptional(),
  /** Shortest lease that a machine may ask for, in seconds. */
  minLeaseTime: z.int().min(10).exactOptional(),
  /** Routes beside the default one, option 121 (RFC 3442); the default route is added, because clients that take these ignore `routers`. */
  routes: z
    .array(z.strictObject({ prefix: ipPrefixSchema, via: ipAddressSchema }))
    .max(24)
    .exactOptional(),
  options: moreOptionsSchema.exactOptional(),
  boot: bootSettingsSchema.exactOptional(),
  /** Statements of dhcpd.conf(5) that stand in the subnet's block as they are, reviewed. */
  snippet: z.string().max(65_536).exactOptional(),
});
export type DhcpSettings = z.infer<typeof dhcpSettingsSchema>;

/** Two racks that share one pool and tell each other of every lease (dhcpd.conf(5), failover). Times in seconds. */
export const failoverSchema = z.strictObject({
  role: z.enum(["primary", "secondary"]),
  /** This rack's and its partner's real address. */
  address: ipAddressSchema,
  partner: ipAddressSchema,
  /** TCP port on both. */
  port: z.int().min(1).max(65_535),
  /** How much longer than its partner knows one may extend a lease alone. */
  mclt: z.int().min(10).max(86_400),
  /** Share of new machines, in 256ths, that the primary answers. */
  split: z.int().min(0).max(256),
});
export type DesiredFailover = z.infer<typeof failoverSchema>;

/** A network that is on none of the rack's links. Relays on it forward to `server`, an address of this rack. */
export const relaySchema = z.strictObject({ server: ipAddressSchema });
export type DesiredRelay = z.infer<typeof relaySchema>;

/** How an operator wishes a window to be shared by the two racks of its network. Times in seconds. */
export const failoverWishSchema = z.strictObject({
  mclt: failoverSchema.shape.mclt.exactOptional(),
  split: failoverSchema.shape.split.exactOptional(),
  port: failoverSchema.shape.port.exactOptional(),
});
export type FailoverWish = z.infer<typeof failoverWishSchema>;

/** Which racks serve a network that is on none of their links: those that have one of the addresses to which its relays forward. */
export const relayWishSchema = z.strictObject({ servers: z.array(ipAddressSchema).min(1).max(4) });

/** All that an operator may set of a subnet's DHCP. */
export const subnetDhcpSchema = dhcpSettingsSchema.extend({
  failover: failoverWishSchema.exactOptional(),
  relay: relayWishSchema.exactOptional(),
});
export type SubnetDhcp = z.infer<typeof subnetDhcpSchema>;

const wishes = subnetDhcpSchema.shape;

/** Changes what it names and leaves the rest; null takes a setting away. */
export const subnetDhcpChangeSchema = z.strictObject({
  routers: wishes.routers.nullable().exactOptional(),
  domainSearch: wishes.domainSearch.nullable().exactOptional(),
  mtu: wishes.mtu.nullable().exactOptional(),
  minLeaseTime: wishes.minLeaseTime.nullable().exactOptional(),
  routes: wishes.routes.nullable().exactOptional(),
  options: wishes.options.nullable().exactOptional(),
  boot: wishes.boot.nullable().exactOptional(),
  snippet: wishes.snippet.nullable().exactOptional(),
  failover: wishes.failover.nullable().exactOptional(),
  relay: wishes.relay.nullable().exactOptional(),
});
export type SubnetDhcpChange = z.infer<typeof subnetDhcpChangeSchema>;

/** The settings after a change; null when nothing is set. */
export function changeSubnetDhcp(before: SubnetDhcp | undefined, change: SubnetDhcpChange | null): SubnetDhcp | null {
  if (change === null) return null;
  const entries = Object.entries({ ...before, ...change }).filter(([, value]) => value !== null);
  return entries.length === 0 ? null : Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}
