import { ipAddressSchema } from "@berth/core";
import { z } from "zod";

/**
 * The agent's configuration file, YAML or JSON. Every key has a default but those of the identity, which `berth-agent join` writes to the
 * state folder. `agent.reference.yaml` beside this package documents each key; a test holds it against these defaults.
 */
export const agentConfigSchema = z.strictObject({
  /** Folder of everything the agent keeps: identity, desired state, rendered files, leases. */
  state: z.string().min(1).default("/var/lib/berth-agent"),
  /** `observe`: looks and reports, and changes nothing on this host: no file, no daemon, no address. */
  mode: z.enum(["manage", "observe"]).default("manage"),
  /** What starts dhcpd and named: systemd, as units `berth-dhcpd` and `berth-named`; or the agent itself. */
  driver: z.enum(["supervised", "systemd"]).default("supervised"),
  /** More regions to dial, `HOST:PORT`, beside the one that was joined. */
  regions: z.array(z.string().regex(/^(\[[0-9a-fA-F:]+\]|[^:\s]+):\d{1,5}$/, "write HOST:PORT")).default([]),
  /** Verdicts that an operator knows better than the agent; first match wins over everything observed. */
  addresses: z
    .strictObject({ real: z.array(ipAddressSchema).default([]), vips: z.array(ipAddressSchema).default([]) })
    .prefault({}),
  dhcpd: z
    .strictObject({
      program: z.string().min(1).default("dhcpd"),
      /** The leases file; null is `dhcpd/dhcpd.leases` in the state folder. */
      leases: z.string().min(1).nullable().default(null),
      /** How often served links are searched for foreign DHCP servers, about; 0 for never. */
      foreign_check_seconds: z.int().min(0).max(86_400).default(300),
      /** How often the pools are counted and dhcpd's log is read for machines that get no lease; 0 for never. */
      pool_check_seconds: z.int().min(0).max(86_400).default(30),
      /** Servers that may be there beside ours, by address or server identifier. */
      known_servers: z.array(ipAddressSchema).default([]),
      /** Asks dhcpd about leases, and ends those of machines that are gone; null leaves OMAPI off. */
      omapi: z
        .strictObject({ port: z.int().min(1).max(65535) })
        .nullable()
        .default(null),
    })
    .prefault({}),
  named: z
    .strictObject({
      program: z.string().min(1).default("named"),
      port: z.int().min(1).max(65535).default(53),
      /** rndc's port on 127.0.0.1. */
      control_port: z.int().min(1).max(65535).default(953),
    })
    .prefault({}),
  log: z.strictObject({ level: z.enum(["debug", "info", "warn", "error"]).default("info") }).prefault({}),
});
export type AgentConfig = z.infer<typeof agentConfigSchema>;

/** The annotated file that documents every key. */
export const AGENT_CONFIG_REFERENCE = "packages/agent/agent.reference.yaml";
