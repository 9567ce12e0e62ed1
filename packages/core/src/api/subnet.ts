import { z } from "zod";
import { subnetDhcpChangeSchema } from "../desired/dhcp-settings.js";
import { dhcpModeSchema, domainNameSchema, ipAddressSchema, ipPrefixSchema } from "../desired/schema.js";

const SECONDS_MAX = 2_147_483_647;
const secondsSchema = z.int().min(10).max(SECONDS_MAX);
const rangeSchema = z.strictObject({ first: ipAddressSchema, last: ipAddressSchema });
const serversSchema = z.array(ipAddressSchema).max(16).nullable();

export const siteNameSchema = z
  .string()
  .regex(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/, "not a site name: lower-case letters, digits and inner hyphens, at most 63");

const enlistmentSchema = z.strictObject({
  pool: ipPrefixSchema.exactOptional(),
  sliceLength: z.int().min(1).max(128).exactOptional(),
  leaseTime: secondsSchema.exactOptional(),
});

const changeable = {
  gateway: ipAddressSchema.nullable().exactOptional(),
  domain: domainNameSchema.exactOptional(),
  mode: dhcpModeSchema.exactOptional(),
  window: rangeSchema.nullable().exactOptional(),
  enlistment: enlistmentSchema.nullable().exactOptional(),
  reserved: z.array(rangeSchema).max(1024).exactOptional(),
  dns: serversSchema.exactOptional(),
  ntp: serversSchema.exactOptional(),
  leaseTime: secondsSchema.exactOptional(),
  maxLeaseTime: secondsSchema.exactOptional(),
  dhcp: subnetDhcpChangeSchema.nullable().exactOptional(),
};

/**
 * Declares a subnet. The prefix is text here: the ledger reads it and answers host bits with the network that was meant. Times in seconds.
 */
export const subnetCreateSchema = z.strictObject({
  prefix: z.string().min(1).max(64),
  site: siteNameSchema.exactOptional(),
  ...changeable,
  domain: domainNameSchema,
  mode: dhcpModeSchema,
});
export type SubnetCreate = z.input<typeof subnetCreateSchema>;

/** Changes what it names and leaves the rest; the prefix and the site of a subnet never change. */
export const subnetChangeSchema = z.strictObject(changeable);
export type SubnetChange = z.input<typeof subnetChangeSchema>;

/** As it is set: text where the settings have addresses and prefixes. */
const subnetDhcpViewSchema = z
  .looseObject({})
  .meta({ description: "What is set of its DHCP, in the form in which it is changed." });

const rangeViewSchema = z.object({ first: z.string(), last: z.string() });

export const subnetViewSchema = z
  .object({
    id: z.int(),
    prefix: z.string(),
    site: z.string(),
    gateway: z.string().nullable(),
    domain: z.string(),
    mode: dhcpModeSchema,
    window: rangeViewSchema.nullable(),
    enlistment: z.object({ pool: z.string(), sliceLength: z.int(), leaseTime: z.int() }).nullable(),
    reserved: z.array(rangeViewSchema),
    dns: z.array(z.string()).nullable(),
    ntp: z.array(z.string()).nullable(),
    leaseTime: z.int(),
    maxLeaseTime: z.int(),
    dhcp: subnetDhcpViewSchema.nullable(),
    createdAt: z.string(),
    allocations: z.int().meta({ description: "Static allocations in this subnet." }),
    quarantined: z.int().meta({ description: "Released addresses that still rest." }),
    racks: z
      .array(z.string())
      .meta({ description: "Names of the racks that have an address in this prefix, or one that its relays forward to." }),
  })
  .meta({ id: "Subnet" });
export type SubnetView = z.infer<typeof subnetViewSchema>;
