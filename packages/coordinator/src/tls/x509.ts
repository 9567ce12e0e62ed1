import "reflect-metadata";
import { webcrypto, type KeyObject } from "node:crypto";
import * as x509 from "@peculiar/x509";

// Costs a quarter of a second to load, so only what issues certificates imports this file, and lazily.
x509.cryptoProvider.set(webcrypto);

export { x509 };

/** The one algorithm of our certificates: ECDSA on P-256 (RFC 5480). */
export const KEY_ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;

/** A key of node:crypto as the library wants it. */
export async function signingKey(key: KeyObject): Promise<webcrypto.CryptoKey> {
  const pkcs8 = key.export({ type: "pkcs8", format: "der" });
  return webcrypto.subtle.importKey("pkcs8", pkcs8, KEY_ALGORITHM, true, ["sign"]);
}

/** Its public half. */
export async function verifyingKey(publicKey: KeyObject): Promise<webcrypto.CryptoKey> {
  const spki = publicKey.export({ type: "spki", format: "der" });
  return webcrypto.subtle.importKey("spki", spki, KEY_ALGORITHM, true, ["verify"]);
}
