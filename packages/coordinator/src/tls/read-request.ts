import { createPublicKey, type KeyObject } from "node:crypto";
import { accepted, refused, type Result } from "@berth/core";
import { publicKeyHash } from "./certificate.js";

export interface RequestedKey {
  readonly publicKey: KeyObject;
  readonly publicKeyHash: string;
}

/**
 * The public key of a certificate request (PKCS #10, RFC 2986), after its signature proved that the sender holds the private one. Every name
 * in the request is ignored: the coordinator decides the names.
 */
export async function readRequest(pem: string): Promise<Result<RequestedKey>> {
  const { x509 } = await import("./x509.js");
  try {
    const request = new x509.Pkcs10CertificateRequest(pem);
    const publicKey = createPublicKey({ key: Buffer.from(request.publicKey.rawData), format: "der", type: "spki" });
    if (publicKey.asymmetricKeyType !== "ec" || publicKey.asymmetricKeyDetails?.namedCurve !== "prime256v1")
      return unreadable("the key is not an EC key on P-256");
    if (!(await request.verify())) return unreadable("the signature of the request does not match its key");
    return accepted({ publicKey, publicKeyHash: publicKeyHash(publicKey) });
  } catch (error) {
    return unreadable(`not a certificate request: ${error instanceof Error ? error.message.slice(0, 200) : "unreadable"}`);
  }
}

function unreadable(message: string): Result<never> {
  return refused({ code: "certificate-request-invalid", at: "request", message });
}
