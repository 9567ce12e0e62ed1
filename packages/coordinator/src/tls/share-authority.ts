import { EnvironmentError, type Files } from "@berth/host";
import { join } from "node:path";
import type { SettingStore } from "../store/store.js";
import { AUTHORITY_KEY, newKeyPem, PEM_MAX } from "./open-tls.js";

const SETTING = "authority-key";

/**
 * Gives all coordinators of a database one certificate authority, so that a rack that joined one is known to all: its key is kept with the region and
 * copied to each data folder. Throws `authority-differs` for a data folder with another: its racks would have to join again.
 */
export async function shareAuthority(settings: SettingStore, directory: string, files: Files): Promise<void> {
  const path = join(directory, AUTHORITY_KEY);
  const saved = await files.read(path, PEM_MAX);
  const own = saved === null ? newKeyPem() : Buffer.from(saved).toString("utf8");
  const shared = await settings.claim(SETTING, own);
  if (saved !== null && shared !== own) {
    const remedy = "give this coordinator a new data folder with --data, or the database of its own region with --database";
    throw new EnvironmentError("authority-differs", path, `${path} is the certificate authority of another region`, { remedy });
  }
  if (saved !== null) return;
  await files.ensureDirectory(directory, 0o700);
  await files.replace(path, shared, 0o600);
}
