import { createPrivateKey, createPublicKey, generateKeyPairSync, X509Certificate, type KeyObject } from "node:crypto";
import { join } from "node:path";
import { RACK_URI, REGION_URI } from "@berth/core";
import { EnvironmentError, type Clock, type Files } from "@berth/host";
import { DAY_MS, issueAuthority, issueCertificate, publicKeyHash, type Authority } from "./certificate.js";

/** Everything certificates of one coordinator: its CA, its own certificate, and those it gives to racks. */
export interface Tls {
  /** SHA-256 of the CA's public key (SPKI DER) in hex: what the join line pins. */
  readonly fingerprint: string;
  /** A region is known by its key: the first 32 hex digits of its hash. */
  readonly region: string;
  readonly authorityPem: string;
  /** Key and chain of the server as they are now; made anew when names changed or the last third of the life has begun. */
  serverCredentials(): Promise<{ readonly key: string; readonly cert: string }>;
  /** A certificate for the holder of that key as this rack. */
  issueRack(rackId: string, publicKey: KeyObject): Promise<RackCertificate>;
}

export interface RackCertificate {
  readonly pem: string;
  /** In hex. */
  readonly serial: string;
  /** Milliseconds since 1970. */
  readonly endsAt: number;
}

export interface TlsOptions {
  /** The data folder of the coordinator. */
  readonly directory: string;
  readonly files: Files;
  readonly clock: Clock;
  /** Names and addresses that racks, browsers and scripts dial; for those who check them. Racks check the region's URI instead. */
  readonly hosts: readonly string[];
}

/** The region's CA, in the data folder. */
export const AUTHORITY_KEY = "ca.key";
const SERVER_DAYS = 365;
/** Eight weeks; renewed over the link at half of it. */
const RACK_DAYS = 56;
export const PEM_MAX = 64 * 1024;

/**
 * Opens the certificates in the data folder and makes what is missing: `ca.key` and `server.key` readable by the owner alone, written whole before
 * they are used. Throws `key-unreadable` for a file that holds no key of ours: it is never replaced, because every rack would have to join again.
 */
export async function openTls({ directory, files, clock, hosts }: TlsOptions): Promise<Tls> {
  const folder = { directory, files, clock };
  const caKey = await ensureKey(folder, AUTHORITY_KEY);
  const authority: Authority = { key: caKey, certificate: await ensureAuthority(folder, caKey) };
  const serverKey = await ensureKey(folder, "server.key");
  const authorityPem = authority.certificate.toString();
  const region = publicKeyHash(createPublicKey(serverKey)).slice(0, 32);
  return {
    fingerprint: publicKeyHash(authority.certificate.publicKey),
    region,
    authorityPem,
    async serverCredentials() {
      const leaf = await ensureServerCertificate(folder, { authority, serverKey, region, hosts });
      return { key: serverKey.export({ type: "pkcs8", format: "pem" }) as string, cert: `${leaf}${authorityPem}` };
    },
    async issueRack(rackId, publicKey) {
      const order = {
        commonName: rackId,
        uri: `${RACK_URI}${rackId}`,
        hosts: [],
        usage: "client",
        publicKey,
        days: RACK_DAYS,
      } as const;
      const pem = await issueCertificate(authority, order, clock);
      const { serialNumber, validTo } = new X509Certificate(pem);
      return { pem, serial: serialNumber.toLowerCase(), endsAt: Date.parse(validTo) };
    },
  };
}

interface Folder {
  readonly directory: string;
  readonly files: Files;
  readonly clock: Clock;
}

async function ensureKey({ directory, files }: Folder, name: string): Promise<KeyObject> {
  const path = join(directory, name);
  const saved = await files.read(path, PEM_MAX);
  if (saved !== null) return readKey(path, saved);
  await files.ensureDirectory(directory, 0o700);
  const pem = newKeyPem();
  await files.replace(path, pem, 0o600);
  return createPrivateKey(pem);
}

/** An EC key on P-256, PKCS #8. */
export function newKeyPem(): string {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return privateKey.export({ type: "pkcs8", format: "pem" }) as string;
}

function readKey(path: string, pem: Uint8Array): KeyObject {
  try {
    const key = createPrivateKey(Buffer.from(pem));
    if (key.asymmetricKeyDetails?.namedCurve === "prime256v1") return key;
    throw new Error("not an EC key on P-256");
  } catch (cause) {
    throw new EnvironmentError("key-unreadable", path, `${path} holds no private key of ours`, {
      cause,
      remedy: "restore the file from a backup; without it every rack has to join again",
    });
  }
}

/** A lost or foreign certificate is made again from the key: the fingerprint, and so every rack, stays. */
async function ensureAuthority({ directory, files, clock }: Folder, key: KeyObject): Promise<X509Certificate> {
  const path = join(directory, "ca.crt");
  const saved = readCertificate(await files.read(path, PEM_MAX));
  if (saved?.ca === true && saved.checkPrivateKey(key)) return saved;
  const pem = await issueAuthority(key, createPublicKey(key), clock);
  await files.replace(path, pem, 0o644);
  return new X509Certificate(pem);
}

interface ServerOrder {
  readonly authority: Authority;
  readonly serverKey: KeyObject;
  readonly region: string;
  readonly hosts: readonly string[];
}

async function ensureServerCertificate({ directory, files, clock }: Folder, order: ServerOrder): Promise<string> {
  const path = join(directory, "server.crt");
  const namesPath = join(directory, "server.names");
  const names = [...new Set(order.hosts)].sort().join("\n");
  const saved = readCertificate(await files.read(path, PEM_MAX));
  const savedNames = await files.read(namesPath, PEM_MAX);
  const sameNames = savedNames !== null && Buffer.from(savedNames).toString("utf8") === names;
  if (saved !== null && sameNames && isFresh(saved, order, clock)) return saved.toString();
  const pem = await issueCertificate(
    order.authority,
    {
      commonName: "berth-coordinator",
      uri: `${REGION_URI}${order.region}`,
      hosts: names === "" ? [] : names.split("\n"),
      usage: "server",
      publicKey: createPublicKey(order.serverKey),
      days: SERVER_DAYS,
    },
    clock,
  );
  await files.replace(path, pem, 0o644);
  await files.replace(namesPath, names, 0o644);
  return pem;
}

/** Ours, and not in the last third of its life. */
function isFresh(certificate: X509Certificate, { authority, serverKey }: ServerOrder, clock: Clock): boolean {
  const left = Date.parse(certificate.validTo) - clock.now();
  const begun = Date.parse(certificate.validFrom) <= clock.now();
  return (
    begun &&
    left > (SERVER_DAYS * DAY_MS) / 3 &&
    certificate.checkPrivateKey(serverKey) &&
    certificate.verify(authority.certificate.publicKey) &&
    certificate.issuer === authority.certificate.subject
  );
}

function readCertificate(pem: Uint8Array | null): X509Certificate | null {
  if (pem === null) return null;
  try {
    return new X509Certificate(Buffer.from(pem));
  } catch {
    return null; // damaged: made again from the key
  }
}
