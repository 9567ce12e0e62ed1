import type { X509Certificate } from "node:crypto";
import { createHash, randomBytes, type KeyObject } from "node:crypto";
import type { Clock } from "@berth/host";

/** The CA's certificate and key: whoever holds the key decides who is a rack of this region. */
export interface Authority {
  readonly key: KeyObject;
  readonly certificate: X509Certificate;
}

export interface CertificateOrder {
  readonly commonName: string;
  /** Identity, as URI in the subject alternative name. */
  readonly uri: string;
  /** Further names a server may be dialed by; `host` is a name or an address. */
  readonly hosts: readonly string[];
  readonly usage: "server" | "client";
  readonly publicKey: KeyObject;
  readonly days: number;
}

export const DAY_MS = 86_400_000;
/** Certificates begin that much in the past, so that a rack whose clock is somewhat behind accepts them. */
export const BACKDATE_MS = DAY_MS;
const AUTHORITY_DAYS = 20 * 365;

/** The CA's own certificate. Made again from the same key it has the same fingerprint. */
export async function issueAuthority(key: KeyObject, publicKey: KeyObject, clock: Clock): Promise<string> {
  const { x509, signingKey, verifyingKey, KEY_ALGORITHM } = await import("./x509.js");
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serialNumber(),
    name: [{ CN: ["Berth CA"] }, { OU: [publicKeyHash(publicKey).slice(0, 16)] }],
    notBefore: new Date(clock.now() - BACKDATE_MS),
    notAfter: new Date(clock.now() + AUTHORITY_DAYS * DAY_MS),
    signingAlgorithm: KEY_ALGORITHM,
    keys: { privateKey: await signingKey(key), publicKey: await verifyingKey(publicKey) },
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(await verifyingKey(publicKey)),
    ],
  });
  return `${certificate.toString("pem")}\n`;
}

/** A certificate for a server or a rack. The order says all that stands in it; nothing comes from the requester but the key. */
export async function issueCertificate(authority: Authority, order: CertificateOrder, clock: Clock): Promise<string> {
  const { x509, signingKey, verifyingKey, KEY_ALGORITHM } = await import("./x509.js");
  const { isIP } = await import("node:net");
  const key = await verifyingKey(order.publicKey);
  const usage = order.usage === "server" ? x509.ExtendedKeyUsage.serverAuth : x509.ExtendedKeyUsage.clientAuth;
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: serialNumber(),
    subject: [{ CN: [order.commonName] }],
    issuer: new x509.X509Certificate(authority.certificate.raw).subjectName.toJSON(),
    notBefore: new Date(clock.now() - BACKDATE_MS),
    notAfter: new Date(clock.now() + order.days * DAY_MS),
    signingAlgorithm: KEY_ALGORITHM,
    publicKey: key,
    signingKey: await signingKey(authority.key),
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([usage], false),
      new x509.SubjectAlternativeNameExtension([
        { type: "url", value: order.uri },
        ...order.hosts.map((value) => ({ type: isIP(value) === 0 ? ("dns" as const) : ("ip" as const), value })),
      ]),
      await x509.AuthorityKeyIdentifierExtension.create(await verifyingKey(authority.certificate.publicKey)),
      await x509.SubjectKeyIdentifierExtension.create(key),
    ],
  });
  return `${certificate.toString("pem")}\n`;
}

/** SHA-256 of a public key (SPKI DER, RFC 5280 section 4.1) in hex. */
export function publicKeyHash(publicKey: KeyObject): string {
  return createHash("sha256")
    .update(publicKey.export({ type: "spki", format: "der" }))
    .digest("hex");
}

/** Positive and random (RFC 5280 section 4.1.2.2). */
function serialNumber(): string {
  const octets = randomBytes(16);
  octets[0] = ((octets[0] ?? 0) & 0x7f) | 0x40;
  return octets.toString("hex");
}
