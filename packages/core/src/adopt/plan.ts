import { z } from "zod";
import { subnetDhcpSchema } from "../desired/dhcp-settings.js";
import { dhcpModeSchema, domainNameSchema, hardwareAddressSchema, ipAddressSchema, ipPrefixSchema } from "../desired/schema.js";
import { IMPORT_ROWS_MAX } from "../import/import-row.js";

/** `FILE:LINE` of the statement that something comes from. */
const placeSchema = z.string().max(4200);
const rangeSchema = z.strictObject({ first: ipAddressSchema, last: ipAddressSchema });
const secondsSchema = z.int().min(10).max(2_147_483_647);

export const adoptedSubnetSchema = z.strictObject({
  at: placeSchema,
  prefix: ipPrefixSchema,
  mode: dhcpModeSchema,
  /** Null where the file names none; Berth needs one. */
  domain: domainNameSchema.nullable(),
  gateway: ipAddressSchema.nullable(),
  window: rangeSchema.nullable(),
  /** Holes in the window. */
  reserved: z.array(rangeSchema).max(1024),
  enlistment: z.strictObject({ pool: ipPrefixSchema, sliceLength: z.int().min(1).max(32), leaseTime: secondsSchema }).nullable(),
  dns: z.array(ipAddressSchema).max(16).nullable(),
  ntp: z.array(ipAddressSchema).max(16).nullable(),
  leaseTime: secondsSchema,
  maxLeaseTime: secondsSchema,
  /** All else that machines there are told, load and are served by; null for nothing. */
  dhcp: subnetDhcpSchema.nullable(),
});
export type AdoptedSubnet = z.infer<typeof adoptedSubnetSchema>;

export const adoptedMachineSchema = z.strictObject({
  at: placeSchema,
  nics: z.array(hardwareAddressSchema).min(1).max(64),
  name: z.string().max(253).nullable(),
  address: ipAddressSchema.nullable(),
  subnet: z.string().max(64).nullable(),
});

/** Something of the file that would be lost, or that is no dhcpd.conf. */
export const adoptFindingSchema = z.strictObject({
  at: placeSchema,
  /** The statement as it stands, cut to one short line. */
  text: z.string().max(200),
  why: z.string().max(300),
});
export type AdoptFinding = z.infer<typeof adoptFindingSchema>;

export const ADOPT_FINDINGS_MAX = 10_000;

/** What an existing dhcpd.conf comes to in Berth. Nothing of it is in force before it is imported. Lease times in seconds. */
export const adoptPlanSchema = z.strictObject({
  format: z.literal("berth-adopt-1"),
  subnets: z.array(adoptedSubnetSchema).max(4096),
  machines: z.array(adoptedMachineSchema).max(IMPORT_ROWS_MAX),
  /** What has no counterpart: it ends when Berth takes over. */
  withoutCounterpart: z.array(adoptFindingSchema).max(ADOPT_FINDINGS_MAX + 1),
  /** What could not be read; while there is any, nothing is imported. */
  unreadable: z.array(adoptFindingSchema).max(ADOPT_FINDINGS_MAX + 1),
});
export type AdoptPlan = z.infer<typeof adoptPlanSchema>;
