import { createHash, randomBytes } from "node:crypto";
import {
  accepted,
  isoTime,
  rackNameSchema,
  refused,
  type JoinToken,
  type Problem,
  type RackView,
  type Result,
} from "@berth/core";
import type { Clock } from "@berth/host";
import type { AuditStore, TokenStore } from "../store/store.js";

export interface TokenOrder {
  /** Name the rack shall have; that of a known rack only to replace its host. */
  readonly rack?: string | null;
  /** The rack is known and its host is to be replaced. */
  readonly replace?: boolean;
  readonly site?: string;
  /** Milliseconds; a quarter of an hour by default, at most a week. */
  readonly ttlMs?: number;
}

export interface CreatedToken extends JoinToken {
  readonly expiresAt: number;
}

export const TOKEN_TTL_MS = 15 * 60_000;
export const TOKEN_TTL_MAX_MS = 7 * 86_400_000;
/** Used and expired tokens are kept that long, so that a rack that lost the answer can ask again. */
export const TOKEN_KEPT_MS = 3_600_000;

export interface TokenPorts {
  readonly tokens: TokenStore;
  readonly audit: Pick<AuditStore, "append">;
  readonly racks: () => readonly RackView[];
  readonly clock: Clock;
}

/** Makes a join token for whoever `actor` is. The secret is answered once and only its hash is kept. */
export async function createToken(ports: TokenPorts, order: TokenOrder, actor: string): Promise<Result<CreatedToken>> {
  const { rack = null, site = "default", ttlMs = TOKEN_TTL_MS, replace = false } = order;
  if (rack !== null && !rackNameSchema.safeParse(rack).success)
    return refused({
      code: "rack-name-invalid",
      at: rack.slice(0, 64),
      message: "not a name in lower case letters, digits and hyphens",
    });
  if (!(ttlMs >= 1_000 && ttlMs <= TOKEN_TTL_MAX_MS))
    return refused({ code: "ttl-out-of-range", at: "ttl", message: "a join token lives between a second and a week" });
  const { tokens, clock, audit } = ports;
  const place = checkPlace(ports.racks(), rack, replace);
  if (place !== null) return refused(place);
  for (const old of await tokens.list()) if (old.expiresAt + TOKEN_KEPT_MS < clock.now()) await tokens.remove(old.id);
  const token = { id: randomBytes(6).toString("hex"), secret: randomBytes(16).toString("hex") };
  const expiresAt = clock.now() + ttlMs;
  await tokens.save({
    id: token.id,
    secretHash: hashSecret(token.secret),
    expiresAt,
    rackName: rack,
    site,
    replaces: replace,
    usedBy: null,
    usedAt: null,
  });
  const detail = { token: token.id, rack, site, replace, expiresAt };
  await audit.append({ at: clock.now(), actor, action: "create-token", subject: rack ?? "any rack", detail });
  return accepted({ ...token, expiresAt });
}

/** A name that nobody has, or that of a rack whose host is knowingly replaced. */
function checkPlace(racks: readonly RackView[], name: string | null, replace: boolean): Problem | null {
  const known = name === null ? undefined : racks.find((rack) => rack.name === name);
  if (known !== undefined && !replace) {
    const { connected, lastSeenAt } = known;
    const seen = lastSeenAt === null ? "not seen since this coordinator runs" : `last seen at ${isoTime(lastSeenAt)}`;
    return {
      code: "rack-known",
      at: "rack",
      message: `rack ${known.name} is known and ${connected ? "connected" : "not connected"}, ${seen}: its host would lose its place`,
      remedy: "choose another name, or say --replace (API: replace) if another host shall take that rack's place",
    };
  }
  if (!replace || known !== undefined) return null;
  const message = name === null ? "a token that replaces a host has to name the rack" : `there is no rack ${name} to replace`;
  return { code: "replace-without-rack", at: "replace", message, remedy: "see 'berth rack list', or leave --replace out" };
}

/** 128 random bits need no slow hash. */
export function hashSecret(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}
