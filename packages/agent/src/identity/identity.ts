import { createPrivateKey, generateKeyPairSync, randomUUID, X509Certificate } from "node:crypto";
import { join } from "node:path";
import { z } from "zod";
import { joinAnswerSchema, type JoinAnswer } from "@berth/core";
import { EnvironmentError, type Files } from "@berth/host";

/** What makes this host a rack: on its disk since the join, and all it needs to dial a region. */
export interface Identity {
  readonly rack: string;
  readonly name: string;
  readonly site: string;
  readonly region: string;
  /** PEM: private key (PKCS #8), the rack's certificate, the CA's certificate. */
  readonly key: string;
  readonly certificate: string;
  readonly ca: string;
  /** Addresses of the region as HOST:PORT; the one that was joined first. */
  readonly regions: readonly string[];
}

const identitySchema = joinAnswerSchema.omit({ now: true }).extend({ format: z.literal(1) });

const FOLDER = "link";
const FILE_MAX = 256 * 1024;

/** Key and id of a host that may not have joined yet. They are on disk before anything is sent, so that a repeated join is the same join. */
export interface Candidate {
  readonly key: string;
  readonly rack: string;
}

/** The rack id is made once, never from an address or a name. */
export async function ensureCandidate(stateDir: string, files: Files): Promise<Candidate> {
  const path = join(stateDir, FOLDER, "key.json");
  const saved = await readJson(path, files, candidateSchema);
  if (saved !== null) {
    parseKey(path, saved.key);
    return saved;
  }
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const candidate = { key: privateKey.export({ type: "pkcs8", format: "pem" }) as string, rack: randomUUID() };
  await files.ensureDirectory(join(stateDir, FOLDER), 0o700);
  await files.replace(path, `${JSON.stringify(candidate)}\n`, 0o600);
  return candidate;
}

const candidateSchema = z.object({ key: z.string().max(8192), rack: z.uuid() });

/** The identity, or null when this host has not joined. Throws `identity-unreadable` for files that are damaged or do not belong together. */
export async function loadIdentity(stateDir: string, files: Files): Promise<Identity | null> {
  const path = join(stateDir, FOLDER, "identity.json");
  const saved = await readJson(path, files, identitySchema);
  if (saved === null) return null;
  const candidate = await readJson(join(stateDir, FOLDER, "key.json"), files, candidateSchema);
  if (candidate === null || !matches(path, saved.certificate, candidate.key))
    throw unreadable(path, "the certificate does not belong to the key beside it");
  const { rack, name, site, region, certificate, ca, regions } = saved;
  return { rack, name, site, region, key: candidate.key, certificate, ca, regions };
}

/** Keeps the answer to a join; replaces whatever was there. */
export async function saveIdentity(stateDir: string, files: Files, identity: Omit<Identity, "key">): Promise<void> {
  const { rack, name, site, region, certificate, ca, regions } = identity;
  const saved: z.infer<typeof identitySchema> = {
    format: 1,
    rack,
    name,
    site,
    region,
    certificate,
    ca,
    regions: [...regions].slice(0, 64),
  };
  await files.ensureDirectory(join(stateDir, FOLDER), 0o700);
  await files.replace(join(stateDir, FOLDER, "identity.json"), `${JSON.stringify(saved, null, 2)}\n`, 0o600);
}

/** The identity that an answer to a join makes of a candidate. `joinedAt` is the address that answered: it is known to work and comes first. */
export function identityFrom(answer: JoinAnswer, candidate: Candidate, joinedAt: string): Identity {
  const { rack, name, site, region, certificate, ca } = answer;
  return { rack, name, site, region, key: candidate.key, certificate, ca, regions: [...new Set([joinedAt, ...answer.regions])] };
}

async function readJson<T>(path: string, files: Files, schema: z.ZodType<T>): Promise<T | null> {
  const bytes = await files.read(path, FILE_MAX);
  if (bytes === null) return null;
  try {
    return schema.parse(JSON.parse(Buffer.from(bytes).toString("utf8")));
  } catch (cause) {
    throw unreadable(path, "damaged", cause);
  }
}

function matches(path: string, certificate: string, key: string): boolean {
  try {
    return new X509Certificate(certificate).checkPrivateKey(parseKey(path, key));
  } catch (cause) {
    throw unreadable(path, "damaged", cause);
  }
}

function parseKey(path: string, pem: string) {
  try {
    return createPrivateKey(pem);
  } catch (cause) {
    throw unreadable(path, "holds no private key", cause);
  }
}

function unreadable(path: string, why: string, cause?: unknown): EnvironmentError {
  return new EnvironmentError("identity-unreadable", path, `${path}: ${why}`, {
    cause,
    remedy: "restore the folder from a backup, or remove it and join this host again with a new token",
  });
}
