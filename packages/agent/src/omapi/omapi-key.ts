import { randomBytes } from "node:crypto";
import { renderOmapiKey } from "@berth/core";
import type { Files } from "@berth/host";

const KEY_MAX = 4096;
const SECRET = /^ *secret "([A-Za-z0-9+/]{42,}={0,2})";$/m;

/**
 * The secret by which this agent asks its dhcpd: made once, in a file that only its owner reads, and made anew when it is lost or is no key. dhcpd takes
 * it over at its next start.
 */
export async function ensureOmapiKey(files: Files, path: string): Promise<Uint8Array> {
  const saved = await files.read(path, KEY_MAX);
  const known = saved === null ? null : SECRET.exec(Buffer.from(saved).toString("latin1"))?.[1];
  if (known !== undefined && known !== null) return Buffer.from(known, "base64");
  const secret = randomBytes(32);
  await files.replace(path, renderOmapiKey(secret.toString("base64")), 0o600);
  return secret;
}
