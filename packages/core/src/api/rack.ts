import { z } from "zod";
import { domainNameSchema } from "../desired/schema.js";
import { apiProblemSchema } from "./error.js";
import { siteNameSchema } from "./subnet.js";

export const daemonViewSchema = z
  .object({
    name: z.enum(["dhcpd", "dhcpd6", "named"]),
    state: z.enum(["off", "converged", "converging", "failing"]),
    desired: z.string().nullable(),
    written: z.string().nullable(),
    running: z.string().nullable(),
    generation: z.int().nullable(),
    problems: z.array(apiProblemSchema),
  })
  .meta({ id: "Daemon" });

const rackAddressSchema = z
  .object({
    interface: z.string(),
    address: z.string(),
    prefixLength: z.int(),
    class: z.enum(["real", "vip", "p2p", "local", "container"]),
    confidence: z.number().meta({ description: "0 to 1; servers are chosen freely from 0.8 on." }),
    reasons: z.array(z.string()).meta({ description: "Why it was judged so, the deciding reason first." }),
    since: z
      .string()
      .nullable()
      .meta({ description: "Since when the rack is known to have it; null for what stays on the host." }),
    published: z.boolean().meta({ description: "Others may be given it to reach this rack." }),
  })
  .meta({ id: "RackAddress" });

const rackLinkSchema = z
  .object({
    name: z.string(),
    parent: z.string().nullable(),
    kind: z.string().nullable(),
    vlanId: z.int().nullable(),
    hardwareAddress: z.string().nullable(),
    up: z.boolean().meta({ description: "Set up and with a carrier." }),
    flags: z.array(z.string()),
  })
  .meta({ id: "RackLink" });

/** A rack as the region knows it. Times ISO 8601 UTC, null before the first contact. */
export const rackApiViewSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    site: z.string(),
    connected: z.boolean(),
    joinedAt: z.string(),
    lastSeenAt: z.string().nullable(),
    addresses: z.array(rackAddressSchema).meta({ description: "Every address it reported, but link-local and loopback ones." }),
    links: z.array(rackLinkSchema),
    subnets: z.array(z.object({ id: z.int(), prefix: z.string() })).meta({ description: "Declared subnets that it serves." }),
    stale: z.boolean().meta({ description: "Not heard from for a while: what it last reported still counts." }),
    interfacesAt: z.string().nullable(),
    desiredGeneration: z.int().nullable().meta({ description: "What it must run; null when nothing was planned for it." }),
    acceptedGeneration: z.int().meta({ description: "What it has on its disk; 0 for none." }),
    converged: z.boolean().meta({ description: "It runs exactly what it must run." }),
    leasesInUse: z.int(),
    daemons: z.array(daemonViewSchema),
    problems: z.array(apiProblemSchema),
  })
  .meta({ id: "Rack" });
export type RackApiView = z.infer<typeof rackApiViewSchema>;

export const TOKEN_TTL_DEFAULT_SECONDS = 3600;

/** Asks for a join line: for one rack name or for any, single use, short-lived. */
export const tokenCreateSchema = z.strictObject({
  rack: domainNameSchema.max(64).exactOptional(),
  site: siteNameSchema.exactOptional(),
  replace: z
    .boolean()
    .default(false)
    .meta({ description: "The rack is known and its host is replaced: the host that has its place now loses it." }),
  ttlSeconds: z
    .int()
    .min(60)
    .max(7 * 86_400)
    .default(TOKEN_TTL_DEFAULT_SECONDS),
});
export type TokenCreate = z.input<typeof tokenCreateSchema>;

export const tokenViewSchema = z
  .object({ joinLine: z.string(), rack: z.string().nullable(), expiresAt: z.string() })
  .meta({ id: "Token", description: "Shown once: the coordinator keeps only a digest of it." });
export type TokenView = z.infer<typeof tokenViewSchema>;
