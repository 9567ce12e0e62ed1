import { randomBytes } from "node:crypto";
import { renderRndcKey } from "@berth/core";
import type { Files } from "@berth/host";

/** The key of named's control channel: made once, readable by its owner alone. */
export async function ensureRndcKey(files: Files, path: string): Promise<void> {
  if ((await files.read(path, 4096)) !== null) return;
  await files.replace(path, renderRndcKey(randomBytes(32).toString("base64")), 0o600);
}
