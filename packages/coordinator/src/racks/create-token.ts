import { createHash, randomBytes } from "node:crypto";
import { accepted, rackNameSchema, refused, type JoinToken, type Result } from "@berth/core";
import type { Clock } from "@berth/host";
import type { TokenStore } from "../store/store.js";

export interface TokenOrder {
  /** Name the rack shall have. The name of a known rack makes a token that replaces that rack's host. */
  readonly rack?: string | null;
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

/** Makes a join token. The secret is answered once and only its hash is kept. */
export async function createToken(
  ports: { readonly tokens: TokenStore; readonly clock: Clock },
  order: TokenOrder,
): Promise<Result<CreatedToken>> {
  const { rack = null, site = "default", ttlMs = TOKEN_TTL_MS } = order;
  if (rack !== null && !rackNameSchema.safeParse(rack).success)
    return refused({
      code: "rack-name-invalid",
      at: rack.slice(0, 64),
      message: "not a name in lower case letters, digits and hyphens",
    });
  if (!(ttlMs >= 1_000 && ttlMs <= TOKEN_TTL_MAX_MS))
    return refused({ code: "ttl-out-of-range", at: "ttl", message: "a join token lives between a second and a week" });
  const { tokens, clock } = ports;
  for (const old of await tokens.list()) if (old.expiresAt + TOKEN_KEPT_MS < clock.now()) await tokens.remove(old.id);
  const token = { id: randomBytes(6).toString("hex"), secret: randomBytes(16).toString("hex") };
  const expiresAt = clock.now() + ttlMs;
  await tokens.save({
    id: token.id,
    secretHash: hashSecret(token.secret),
    expiresAt,
    rackName: rack,
    site,
    usedBy: null,
    usedAt: null,
  });
  return accepted({ ...token, expiresAt });
}

/** 128 random bits need no slow hash. */
export function hashSecret(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}
