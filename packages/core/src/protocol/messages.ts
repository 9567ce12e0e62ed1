import { z } from "zod";
import { desiredChangeSchema } from "../desired/change.js";
import { desiredStateSchema, domainNameSchema, hardwareAddressSchema, ipAddressSchema } from "../desired/schema.js";

/**
 * Version of the conversation, negotiated as the WebSocket subprotocol.
 *
 * - 1 (2026-11-30): hello, interfaces, leases, status, receipt, renew; welcome, desired, acknowledge, certificate, problem, refuse.
 *   Added the same day, and ignored by who does not know them: wire; probe; desired-change, for an agent whose hello says `takesChanges`.
 */
export const PROTOCOL_VERSION = 1;
export const SUBPROTOCOL = "berth.v1";

/** Code of the problem in a receipt for a change of a state that the agent does not hold: it needs the next one whole. */
export const BASE_MISSING = "desired-base-missing";

/** Limits of one frame in octets and items; snapshots larger than that are paged. A desired state travels whole, so its direction has more room. */
export const FRAME_BYTES_MAX = 8 * 1024 * 1024;
export const DESIRED_FRAME_BYTES_MAX = 64 * 1024 * 1024;
export const LEASES_PER_FRAME_MAX = 2048;
export const WIRE_ANSWERS_PER_FRAME_MAX = 2048;
/** Addresses that one rack is asked to look after on its wires. */
export const PROBE_ADDRESSES_MAX = 4096;

/** A time of a lease: 32 bits, as both kinds of leases files are read. What is far above that is no date. */
const secondsSchema = z.int().min(0).max(0xffff_ffff);
/** The rack's wall clock when it sent the message, milliseconds since 1970. */
const senderClockSchema = z.number().min(0).max(8.64e15).exactOptional();

const interfaceAddressSchema = z.object({
  address: ipAddressSchema,
  prefixLength: z.int().min(0).max(128),
  peer: ipAddressSchema.nullable(),
  broadcast: ipAddressSchema.nullable(),
  scope: z.string().max(32),
  label: z.string().max(64).nullable(),
  flags: z.array(z.string().max(32)).max(32),
  protocol: z.string().max(32).nullable(),
  validLifetime: z.number().nullable(),
  preferredLifetime: z.number().nullable(),
});

const hostInterfaceSchema = z.object({
  name: z.string().min(1).max(64),
  index: z.int().nullable(),
  parent: z.string().max(64).nullable(),
  kind: z.string().max(32).nullable(),
  vlanId: z.int().min(0).max(4095).nullable(),
  hardwareAddress: hardwareAddressSchema.nullable(),
  permanentAddress: hardwareAddressSchema.nullable(),
  flags: z.array(z.string().max(32)).max(64),
  mtu: z.int().nullable(),
  addresses: z.array(interfaceAddressSchema).max(4096),
});

/** One lease as the rack's leases file tells it. Times in seconds since 1970; `ends` null is unknown, "never" for ever. */
export const leaseReportSchema = z.object({
  address: ipAddressSchema,
  state: z.enum(["free", "active", "expired", "released", "abandoned", "reset", "backup", "unknown"]),
  inUse: z.boolean(),
  /** False while nobody else may be given this address: in use, abandoned, backup, unknown, reserved. */
  allocatable: z.boolean(),
  hardwareAddress: hardwareAddressSchema.nullable(),
  /** What may stand in a zone of the name the client claimed; the raw name stays on the rack. */
  dnsLabel: domainNameSchema.nullable(),
  starts: secondsSchema.nullable(),
  ends: z.union([secondsSchema, z.literal("never")]).nullable(),
});
export type LeaseReport = z.infer<typeof leaseReportSchema>;

/** A problem on the wire; texts are cut to these lengths by the sender. */
export const problemSchema = z.object({
  code: z.string().max(64),
  at: z.string().max(256),
  message: z.string().max(1024),
  remedy: z.string().max(1024).exactOptional(),
});

/**
 * One managed daemon: three digests that agree when it has converged. `desired` is what the newest accepted generation renders to,
 * `written` what lies on disk, `running` what the daemon last started with and was seen to serve.
 */
export const daemonStatusSchema = z.object({
  name: z.enum(["dhcpd", "dhcpd6", "named"]),
  state: z.enum(["off", "converged", "converging", "failing"]),
  desired: z.string().max(64).nullable(),
  written: z.string().max(64).nullable(),
  running: z.string().max(64).nullable(),
  /** Generation whose content runs. */
  generation: z.int().nullable(),
  problems: z.array(problemSchema).max(256),
});
export type DaemonStatus = z.infer<typeof daemonStatusSchema>;

const addressesSchema = z.array(ipAddressSchema).max(1024);

/** What a host knows that its interfaces do not show. */
export const hostKnowledgeSchema = z.object({
  /** Verdicts of the agent's own configuration. */
  real: addressesSchema,
  vips: addressesSchema,
  /** Held under one of this host's own hardware addresses in a leases file that is read here. */
  leasedToSelf: addressesSchema,
  /** Who was seen on the wire. */
  neighbors: z
    .array(z.object({ interfaceName: z.string().max(64), address: ipAddressSchema, hardwareAddress: hardwareAddressSchema }))
    .max(8192),
});
export type HostKnowledge = z.infer<typeof hostKnowledgeSchema>;

/** What one look at an address on the wire told; see `WireAnswer`. */
export const wireAnswerSchema = z.object({
  address: ipAddressSchema,
  /** Who answered; empty when nobody did. */
  hardwareAddresses: z.array(hardwareAddressSchema).max(8),
  /** By the rack's wall clock, milliseconds since 1970. */
  at: z.number().min(0).max(8.64e15),
  how: z.enum(["probe", "neighbor"]),
});

/** What an agent says. Every observation carries the sequence number that the coordinator acknowledges. */
export const agentMessageSchema = z.discriminatedUnion("type", [
  /**
   * First frame of a session. `generation` is the newest desired state the rack holds, 0 for none. `stream` names the run of the agent that
   * numbers the observations: sequences of another stream mean nothing. `takesChanges`: it understands `desired-change`.
   */
  z.object({
    type: z.literal("hello"),
    version: z.string().max(64),
    rack: z.string().max(64),
    hostname: z.string().max(253),
    generation: z.int().min(0),
    stream: z.string().min(1).max(64),
    takesChanges: z.boolean().exactOptional(),
    now: senderClockSchema,
  }),
  /** All interfaces of the host, whole; replaces the previous report. */
  z.object({
    type: z.literal("interfaces"),
    sequence: z.int(),
    interfaces: z.array(hostInterfaceSchema).max(4096),
    knowledge: hostKnowledgeSchema.nullable().default(null),
    now: senderClockSchema,
  }),
  /**
   * Leases. A snapshot comes in pages: the first has `snapshot: "begin"`, the last `"end"`, between them `"more"` (one page: `"whole"`);
   * leases that no page named are gone when it ends. `"delta"` changes single leases.
   */
  z.object({
    type: z.literal("leases"),
    sequence: z.int(),
    page: z.enum(["whole", "begin", "more", "end", "delta"]),
    leases: z.array(leaseReportSchema).max(LEASES_PER_FRAME_MAX),
    gone: z.array(ipAddressSchema).max(LEASES_PER_FRAME_MAX),
    now: senderClockSchema,
  }),
  /** What is written and what runs, after every pass that changed it. `accepted` is the generation on disk. */
  z.object({
    type: z.literal("status"),
    sequence: z.int(),
    accepted: z.int().min(0),
    daemons: z.array(daemonStatusSchema).max(8),
    problems: z.array(problemSchema).max(1024),
    /** Whether the rack's own NTP server answers; null while nobody asked it. */
    ntp: z.boolean().nullable().default(null),
    now: senderClockSchema,
  }),
  /**
   * Who answered for addresses on the rack's wires, by a probe or because the kernel talked to them. News only, and at the start of a session all that the agent
   * remembers: nothing is acknowledged, and a newer answer replaces an older one of the same address.
   */
  z.object({
    type: z.literal("wire"),
    answers: z.array(wireAnswerSchema).max(WIRE_ANSWERS_PER_FRAME_MAX),
    now: senderClockSchema,
  }),
  /** What became of a desired state: on disk (no problems), or refused and why. */
  z.object({ type: z.literal("receipt"), generation: z.int().min(0), problems: z.array(problemSchema).max(64) }),
  /** Asks for a new certificate for the same key holder before the old one ends. PEM of a PKCS #10 request. */
  z.object({ type: z.literal("renew"), request: z.string().max(16_384) }),
]);
export type AgentMessage = z.infer<typeof agentMessageSchema>;

/** What a coordinator says. */
export const coordinatorMessageSchema = z.discriminatedUnion("type", [
  /**
   * Answer to `hello`. `acknowledged` is the last observation of the agent's stream that is merged, null when its leases must come whole.
   * `now` is the region's clock in milliseconds since 1970; `regions` are the addresses to dial, as HOST:PORT.
   */
  z.object({
    type: z.literal("welcome"),
    version: z.string().max(64),
    region: z.string().max(64),
    acknowledged: z.int().nullable(),
    now: z.number(),
    regions: z.array(z.string().max(260)).max(64),
  }),
  /** The whole desired state of this rack. */
  z.object({ type: z.literal("desired"), state: desiredStateSchema }),
  /** The same as what it changes of the one before. Who does not hold that one answers with {@link BASE_MISSING} and is sent the whole. */
  z.object({ type: z.literal("desired-change"), change: desiredChangeSchema }),
  /**
   * Addresses that the rack shall probe on its wires and go on probing, most urgent first: those that would be given next, and those that were given and never probed.
   * Replaces the former list; those on none of the rack's links are passed over.
   */
  z.object({ type: z.literal("probe"), addresses: z.array(ipAddressSchema).max(PROBE_ADDRESSES_MAX) }),
  /** Everything up to this sequence number is merged. `problems` names items that were not, one each; the rest is in force. */
  z.object({ type: z.literal("acknowledge"), sequence: z.int(), problems: z.array(problemSchema).max(64) }),
  z.object({ type: z.literal("certificate"), certificate: z.string().max(65_536) }),
  /** A frame was not understood or a request refused; the session goes on. */
  z.object({ type: z.literal("problem"), problem: problemSchema }),
  /** The session ends after this, and why. */
  z.object({ type: z.literal("refuse"), problem: problemSchema }),
]);
export type CoordinatorMessage = z.infer<typeof coordinatorMessageSchema>;
