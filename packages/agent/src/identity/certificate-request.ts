import "reflect-metadata";
import { createPrivateKey, createPublicKey, webcrypto } from "node:crypto";
import * as x509 from "@peculiar/x509";

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;

/**
 * A certificate request (PKCS #10, RFC 2986) for this key, PEM in and out. It names nobody: the coordinator decides the names. Import this file
 * lazily: the library costs a quarter of a second.
 */
export async function createCertificateRequest(keyPem: string): Promise<string> {
  x509.cryptoProvider.set(webcrypto);
  const key = createPrivateKey(keyPem);
  const pkcs8 = key.export({ type: "pkcs8", format: "der" });
  const spki = createPublicKey(key).export({ type: "spki", format: "der" });
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: [{ CN: ["berth-agent"] }],
    signingAlgorithm: ALGORITHM,
    keys: {
      privateKey: await webcrypto.subtle.importKey("pkcs8", pkcs8, ALGORITHM, true, ["sign"]),
      publicKey: await webcrypto.subtle.importKey("spki", spki, ALGORITHM, true, ["verify"]),
    },
  });
  return `${request.toString("pem")}\n`;
}
