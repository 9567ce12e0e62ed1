import { OMAPI_KEY_NAME } from "../omapi/requests.js";
import { assert } from "../problem.js";
import { block, plain, renderStatements, type Statement } from "./statement.js";

/** Where dhcpd is asked about leases. It listens on every address of the host and cannot be told otherwise: keep the port from the network. */
export interface OmapiSettings {
  readonly port: number;
  /** File with the key as {@link renderOmapiKey} writes it; the secret is in no other file. */
  readonly keyFile: string;
}

export function omapiStatements({ port, keyFile }: OmapiSettings): Statement[] {
  return [plain("include", { text: keyFile }), plain("omapi-port", String(port)), plain("omapi-key", OMAPI_KEY_NAME)];
}

/** `secret`: base64 of 32 octets. */
export function renderOmapiKey(secret: string): string {
  assert(/^[A-Za-z0-9+/]{42,}={0,2}$/.test(secret), "the OMAPI secret is not base64 of 32 octets");
  return renderStatements([
    block(["key", OMAPI_KEY_NAME], [plain("algorithm", "hmac-sha256"), plain("secret", { text: secret })]),
  ]);
}
