import { z } from "zod";
import { dhcpSettingsSchema, failoverSchema, relaySchema } from "./dhcp-settings.js";
import { domainNameSchema, hardwareAddressSchema, ipAddressSchema, ipPrefixSchema } from "./scalar-schemas.js";

export { domainNameSchema, hardwareAddressSchema, ipAddressSchema, ipPrefixSchema } from "./scalar-schemas.js";

export const dhcpModeSchema = z.enum(["off", "observe", "static", "window", "link-local"]);
export type DhcpMode = z.infer<typeof dhcpModeSchema>;

const rangeSchema = z.strictObject({ first: ipAddressSchema, last: ipAddressSchema });

/** One host declaration to be: this hardware address always gets this address. */
export const desiredHostSchema = z.strictObject({
  hardwareAddress: hardwareAddressSchema,
  address: ipAddressSchema,
  /** Fully qualified, the name the machine is told it has. */
  name: domainNameSchema,
});
export type DesiredHost = z.infer<typeof desiredHostSchema>;

/** What a rack must serve on one prefix. Times in seconds. */
export const desiredSubnetSchema = z.strictObject({
  /** The ledger's number of the subnet; stable for its life. */
  id: z.int().positive(),
  prefix: ipPrefixSchema,
  mode: dhcpModeSchema,
  gateway: ipAddressSchema.nullable(),
  domain: domainNameSchema,
  /** Mode `window`: the declared range; everything in `excluded` and `excludedRanges` is subtracted when rendering. */
  window: rangeSchema.nullable(),
  /** Mode `link-local`: the slice of the enlistment pool that this link uses. The rack takes the first usable address itself. */
  enlistment: z.strictObject({ slice: ipPrefixSchema, leaseTime: z.int().min(10) }).nullable(),
  /** Addresses inside the prefix that no pool may contain: allocations, VIPs, reservations, racks' own, still held. */
  excluded: z.array(ipAddressSchema),
  /** The same for addresses that follow each other: a reserved block may have millions. */
  excludedRanges: z.array(rangeSchema).exactOptional(),
  hosts: z.array(desiredHostSchema),
  /** From `serversFor`; never empty by accident. On the enlistment link the rack uses its own pool address instead. */
  dns: z.array(ipAddressSchema),
  ntp: z.array(ipAddressSchema),
  leaseTime: z.int().min(10),
  maxLeaseTime: z.int().min(10),
  /** Everything else an operator set. */
  dhcp: dhcpSettingsSchema.exactOptional(),
  /** The window is shared with another rack, and both serve all of it. */
  failover: failoverSchema.exactOptional(),
  /** Served through relays instead of a link. */
  relay: relaySchema.exactOptional(),
});
export type DesiredSubnet = z.infer<typeof desiredSubnetSchema>;

/** One resource record of a zone beside the pre-made names; `owner` is relative to the origin, `@` is the apex. */
export const desiredRecordSchema = z.strictObject({
  owner: z.string().max(253),
  type: z.enum(["A", "AAAA", "PTR", "CNAME", "TXT", "NS"]),
  ttl: z.int().min(0).max(2147483647),
  value: z.string().max(255),
});
export type DesiredRecord = z.infer<typeof desiredRecordSchema>;

/**
 * A zone as data. Forward zones hold `ip-192-168-50-60`-like names for every usable address of `premade`; reverse zones
 * hold the PTR of each of those addresses that falls under their origin. A record in `records` replaces the pre-made PTR of its owner.
 */
export const desiredZoneSchema = z.strictObject({
  origin: domainNameSchema,
  /** RFC 1982 number, moved only by the coordinator and only when the content changed. */
  serial: z.int().min(1).max(4294967295),
  kind: z.enum(["forward", "reverse"]),
  /** Name servers by name; their addresses stand in `records` where the name is inside the zone. */
  nameServers: z.array(domainNameSchema).min(1),
  /** Mailbox of the SOA in domain form. */
  mailbox: domainNameSchema,
  ttl: z.int().min(0),
  premade: z.array(z.strictObject({ prefix: ipPrefixSchema, domain: domainNameSchema })),
  records: z.array(desiredRecordSchema),
});
export type DesiredZone = z.infer<typeof desiredZoneSchema>;

/** A lease that nobody needs any more, exactly as it was reported: one that was renewed since is another. */
export const retiredLeaseSchema = z.strictObject({
  address: ipAddressSchema,
  hardwareAddress: hardwareAddressSchema,
  /** Seconds since 1970. */
  ends: z.int(),
});
export type RetiredLease = z.infer<typeof retiredLeaseSchema>;

/**
 * All that one rack must run: decided by the coordinator, numbered by generation, immutable. The rack persists it before acting on it
 * and needs nothing else to boot and serve.
 */
export const desiredStateSchema = z.strictObject({
  format: z.literal(1),
  /** The rack this is for, by its id: a file copied to another host is refused. */
  rack: z.string().min(1).max(64),
  generation: z.int().positive(),
  subnets: z.array(desiredSubnetSchema).max(4096),
  zones: z.array(desiredZoneSchema).max(8192),
  /** Prefixes whose hosts may ask and recurse. */
  queryFrom: z.array(ipPrefixSchema),
  forwarders: z.array(ipAddressSchema),
  /**
   * Addresses of the rack's networks that the region knows to be virtual by more than their looks (they moved between racks, or the region's
   * configuration says so): a VIP with the subnet's own mask must not become this rack's server identifier.
   */
  vips: z.array(ipAddressSchema).max(4096).exactOptional(),
  /** Dynamic leases of machines that were released: dhcpd may forget them before their end, where it can be asked to and nobody answers there. */
  retired: z.array(retiredLeaseSchema).max(4096).exactOptional(),
});
export type DesiredState = z.infer<typeof desiredStateSchema>;
