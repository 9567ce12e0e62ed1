import { hash, randomBytes, timingSafeEqual } from "node:crypto";

/** Each role may do all that the ones before it may. */
export const ROLES = ["read", "operate", "admin"] as const;
export type Role = (typeof ROLES)[number];

export interface Principal {
  readonly name: string;
  readonly role: Role;
}

/** A token as it is kept: never the token itself. */
export interface StoredToken extends Principal {
  /** SHA-256 of the token in hex. Tokens are 256 random bits, so a slow hash would add nothing. */
  readonly digest: string;
}

export interface Auth {
  /** Who holds this token, or null. */
  identify(token: string): Principal | null;
}

/** A new API token: what the operator gets, once. */
export function makeApiToken(): string {
  return `berth_${randomBytes(32).toString("base64url")}`;
}

export function digestApiToken(token: string): string {
  return hash("sha256", token, "hex");
}

/** Knows the given tokens. Every one is compared, in constant time, whether or not one before it matched. */
export function createTokenAuth(tokens: readonly StoredToken[]): Auth {
  const known = tokens.map(({ digest, name, role }) => ({ digest: Buffer.from(digest, "hex"), principal: { name, role } }));
  return {
    identify(token) {
      const digest = hash("sha256", token, "buffer");
      let found: Principal | null = null;
      for (const { digest: stored, principal } of known)
        if (stored.length === digest.length && timingSafeEqual(stored, digest)) found = principal;
      return found;
    },
  };
}

export function mayAct(principal: Principal, needed: Role): boolean {
  return ROLES.indexOf(principal.role) >= ROLES.indexOf(needed);
}
