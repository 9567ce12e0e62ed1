import { API_PORT, domainNameSchema, ipAddressSchema } from "@berth/core";
import { z } from "zod";

/** `HOST:PORT`; IPv6 in brackets. */
const endpointPattern = /^(\[[0-9a-fA-F:]+\]|[^:\s/]+):\d{1,5}$/;
const endpointSchema = z.string().regex(endpointPattern, "write HOST:PORT");

/** Port on which agents reach the coordinator unless configured. */
export const LINK_PORT = 7481;

/** Addresses that are named in the configuration, of each kind. */
const ADDRESSES_MAX = 4096;

const WEBHOOKS_MAX = 16;
const webhookSchema = z.strictObject({
  url: z.url({ protocol: /^https?$/, error: "write http://... or https://..." }),
  /** File of the secret that deliveries are signed with. */
  secretFile: z.string().min(1),
});

/**
 * The coordinator's configuration file, YAML or JSON; options of `berth-coordinator serve` win over it. `coordinator.reference.yaml` beside
 * this package documents each key; a test holds it against these defaults.
 */
export const coordinatorConfigSchema = z.strictObject({
  /** Folder of the certificate authority, the admin token and, unless `database` says otherwise, the database. */
  data: z.string().min(1).default("/var/lib/berth-coordinator"),
  /** A PostgreSQL database that several coordinators may share, `postgres://...`; null keeps the region in the data folder. */
  database: z.string().min(1).nullable().default(null),
  api: z
    .strictObject({
      /** Where the HTTP API listens: HOST:PORT on loopback. */
      listen: z.array(endpointSchema).default([`127.0.0.1:${API_PORT}`]),
    })
    .prefault({}),
  link: z
    .strictObject({
      /** Where agents dial: one HOST:PORT. */
      listen: endpointSchema.default(`127.0.0.1:${LINK_PORT}`),
      /** HOST:PORT as agents reach it, where that differs from `listen`. */
      advertise: z.array(endpointSchema).default([]),
    })
    .prefault({}),
  dns: z
    .strictObject({
      /** Where the racks' name servers send what they do not know. */
      forwarders: z.array(ipAddressSchema).default([]),
      /** Mailbox of the zones' SOA in domain form; null is hostmaster.DOMAIN. */
      mailbox: domainNameSchema.nullable().default(null),
    })
    .prefault({}),
  addresses: z
    .strictObject({
      /** Real addresses of racks, whatever they look like; region-wide. */
      real: z.array(ipAddressSchema).max(ADDRESSES_MAX).default([]),
      /** Virtual addresses, whatever they look like: never handed out as a server, never allocated; region-wide. */
      vips: z.array(ipAddressSchema).max(ADDRESSES_MAX).default([]),
    })
    .prefault({}),
  wire: z
    .strictObject({
      /** An address that somebody answered for is not given within so many days; after that, only when no other is free. */
      observationDays: z.int().min(0).max(3650).default(7),
    })
    .prefault({}),
  ntp: z
    .strictObject({
      /** Time servers that machines are given where no rack of their network answers. */
      upstreams: z.array(ipAddressSchema).default([]),
    })
    .prefault({}),
  notices: z
    .strictObject({
      /** Writes everything that happens to the log, too. */
      log: z.boolean().default(false),
      /** Receivers of signed JSON. */
      webhooks: z.array(webhookSchema).max(WEBHOOKS_MAX).default([]),
    })
    .prefault({}),
  log: z.strictObject({ level: z.enum(["debug", "info", "warn", "error"]).default("info") }).prefault({}),
});
export type CoordinatorConfig = z.infer<typeof coordinatorConfigSchema>;

/** The annotated file that documents every key. */
export const COORDINATOR_CONFIG_REFERENCE = "packages/coordinator/coordinator.reference.yaml";

/** Splits what the schema has checked. */
export function splitEndpoint(endpoint: string): { readonly host: string; readonly port: number } {
  const colon = endpoint.lastIndexOf(":");
  return { host: endpoint.slice(0, colon).replace(/^\[|\]$/g, ""), port: Number(endpoint.slice(colon + 1)) };
}

export function isEndpoint(text: string): boolean {
  return endpointPattern.test(text) && splitEndpoint(text).port <= 65_535;
}
