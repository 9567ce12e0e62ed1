import { randomBytes } from "node:crypto";
import { renderRndcKey } from "@berth/core";
import type { Files } from "@berth/host";

const KEY_MAX = 4096;

/** The key of named's control channel: made once, readable by its owner alone, and made anew when it is lost or is no key. */
export async function ensureRndcKey(files: Files, path: string): Promise<void> {
  const saved = await files.read(path, KEY_MAX);
  if (saved !== null && /secret "[A-Za-z0-9+/]{42,}={0,2}"/.test(Buffer.from(saved).toString("latin1"))) return;
  await files.replace(path, renderRndcKey(randomBytes(32).toString("base64")), 0o600);
}
