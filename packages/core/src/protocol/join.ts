import { z } from "zod";
import { parseIpAddress } from "../address/ip.js";
import { domainNameSchema } from "../desired/schema.js";
import { accepted, refused, type Result } from "../problem.js";

/** Path of the join request and of the link on the coordinator's TLS port. */
export const JOIN_PATH = "/join";
export const LINK_PATH = "/link";
/** Octets of a join request or answer. */
export const JOIN_BYTES_MAX = 64 * 1024;

/** What certificates say of their holder, as a URI in the subject alternative name. Identity is never a name or an address of the network. */
export const RACK_URI = "urn:berth:rack:";
export const REGION_URI = "urn:berth:region:";

export const rackIdSchema = z.string().regex(/^[a-z0-9][a-z0-9-]{7,63}$/, "not a rack id");
export const rackNameSchema = domainNameSchema.max(64);

/** Body of `POST /join`. The agent sends it only to a server that proved to hold a certificate of the pinned CA. */
export const joinRequestSchema = z.strictObject({
  token: z.string().max(256),
  /** Id that the agent made for itself; the coordinator may answer with another when the token replaces a known rack. */
  rack: rackIdSchema,
  /** Name asked for by the operator on the rack; null lets the token or the host name decide. */
  name: rackNameSchema.nullable(),
  hostname: z.string().max(253),
  version: z.string().max(64),
  /** PEM of a PKCS #10 request (RFC 2986) whose signature proves possession of the key. */
  request: z.string().max(16_384),
});
export type JoinRequest = z.infer<typeof joinRequestSchema>;

/** Answer to an accepted join. */
export const joinAnswerSchema = z.object({
  rack: rackIdSchema,
  name: z.string().max(253),
  site: z.string().max(64),
  region: z.string().max(64),
  /** PEM of the rack's certificate and of the CA. */
  certificate: z.string().max(16_384),
  ca: z.string().max(16_384),
  regions: z.array(z.string().max(260)).max(64),
  /** The region's clock in milliseconds since 1970. */
  now: z.number(),
});
export type JoinAnswer = z.infer<typeof joinAnswerSchema>;

export interface JoinToken {
  readonly id: string;
  readonly secret: string;
}

/** The token of a join line, `ID.SECRET`. */
export function parseJoinToken(text: string): JoinToken | null {
  const match = /^([A-Za-z0-9_-]{4,32})\.([A-Za-z0-9_-]{16,128})$/.exec(text);
  return match?.[1] === undefined || match[2] === undefined ? null : { id: match[1], secret: match[2] };
}

/** `sha256:HEX` of a CA's public key (SPKI DER); answers the hex in lower case. */
export function parseFingerprint(text: string): string | null {
  return /^sha256:([0-9a-f]{64})$/i.exec(text)?.[1]?.toLowerCase() ?? null;
}

/** Where a region listens. */
export interface RegionAddress {
  readonly host: string;
  readonly port: number;
}

/** `HOST:PORT`, `192.0.2.1:7443` or `[2001:db8::1]:7443`. */
export function parseRegionAddress(text: string): Result<RegionAddress> {
  const match = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text);
  const host = match?.[1] ?? match?.[2] ?? "";
  const port = Number(match?.[3] ?? 0);
  const known = match?.[1] === undefined ? isHostName(host) : parseIpAddress(host) !== null;
  if (known && port >= 1 && port <= 65_535) return accepted({ host, port });
  return refused({
    code: "address-invalid",
    at: text.slice(0, 64),
    message: "not the address of a region",
    remedy: "write HOST:PORT, 192.0.2.1:7443 or [2001:db8::1]:7443",
  });
}

export function formatRegionAddress({ host, port }: RegionAddress): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

/** The line an operator types on the rack host. */
export function formatJoinLine(address: string, token: JoinToken, fingerprint: string): string {
  return `berth-agent join ${address} ${token.id}.${token.secret} sha256:${fingerprint}`;
}

/** Digits and dots alone are an address or a mistake, never a name. */
function isHostName(host: string): boolean {
  if (/^[\d.]+$/.test(host)) return parseIpAddress(host) !== null;
  return /^(?=.{1,253}\.?$)(?:[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?)(?:\.[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?)*\.?$/.test(
    host,
  );
}
