import { EnvironmentError, type Files } from "@berth/host";
import type { CoordinatorConfig } from "../config.js";
import type { WebhookTarget } from "./webhook.js";

const SECRET_OCTETS_MAX = 4096;
const SECRET_CHARACTERS_MIN = 16;

/** The configured webhooks with their secrets. Throws `webhook-secret-unusable`. */
export async function readWebhooks(config: CoordinatorConfig["notices"], files: Files): Promise<readonly WebhookTarget[]> {
  const targets: WebhookTarget[] = [];
  for (const { secretFile, url } of config.webhooks) {
    const read = await files.read(secretFile, SECRET_OCTETS_MAX);
    const secret = read === null ? "" : Buffer.from(read).toString("utf8").trim();
    if (secret.length < SECRET_CHARACTERS_MIN) {
      const what = read === null ? "is not there" : `has fewer than ${SECRET_CHARACTERS_MIN} characters`;
      throw new EnvironmentError("webhook-secret-unusable", secretFile, `the secret of the webhook ${url} ${what}`, {
        remedy: "write a random one, and give the same to the receiver: openssl rand -hex 32",
      });
    }
    targets.push({ url, secret });
  }
  return targets;
}
