import { ipv4Number, type IpAddress } from "../address/ip.js";
import type { Problem } from "../problem.js";
import {
  OMAPI_OPERATIONS,
  omapiNumber,
  omapiText,
  readOmapiNumber,
  readOmapiText,
  type OmapiMessage,
  type OmapiValues,
} from "./message.js";

/** The only key name that Berth uses. */
export const OMAPI_KEY_NAME = "berth-omapi";

/** What to ask; transaction and signature are the connection's. */
export type OmapiRequest = Pick<OmapiMessage, "operation" | "handle" | "message" | "object">;

/** Agrees on the key: the answer's handle signs everything after it. dhcpd knows the algorithm by its name in DNS only. */
export function openAuthenticator(): OmapiRequest {
  return open("authenticator", {
    name: omapiText(OMAPI_KEY_NAME),
    algorithm: omapiText("hmac-sha256.SIG-ALG.REG.INT."),
  });
}

/** Looks a lease up by its IPv4 address. */
export function openLease(address: IpAddress): OmapiRequest {
  return open("lease", { "ip-address": omapiNumber(ipv4Number(address)) });
}

/**
 * Ends a lease at `now`, in seconds since 1970; dhcpd's own expiry then frees it within a second. Setting its state instead leaves the old end, and dhcpd gives
 * no free lease whose end is still to come. The client is not told and goes on using the address.
 */
export function endLease(handle: number, now: number): OmapiRequest {
  return update(handle, { ends: omapiNumber(now) });
}

/** Looks a failover relation up by its name in dhcpd.conf. */
export function openFailover(name: string): OmapiRequest {
  return open("failover-state", { name: omapiText(name) });
}

/** Says that the peer is down for good: this server then gives the peer's addresses too. */
export function partnerDown(handle: number): OmapiRequest {
  return update(handle, { "local-state": omapiNumber(FAILOVER_PARTNER_DOWN) });
}

const FAILOVER_PARTNER_DOWN = 4;

/**
 * Why the server refused, or null. Status numbers are those of ISC's result library; 23 is "not found", 6 "no permission".
 */
export function omapiRefusal(answer: OmapiMessage, at: string): Problem | null {
  const { open, refresh, update: changed } = OMAPI_OPERATIONS;
  if (answer.operation === open || answer.operation === refresh || answer.operation === changed) return null;
  const result = readOmapiNumber(answer.message.get("result"));
  if (answer.operation === OMAPI_OPERATIONS.status && result === 0) return null;
  const words = readOmapiText(answer.message.get("message")).slice(0, 200) || "no reason given";
  if (result === RESULT_NOT_FOUND) return { code: "omapi-not-found", at, message: `dhcpd has none: ${words}` };
  return { code: "omapi-refused", at, message: `dhcpd refused: ${words} (${result ?? "no result"})` };
}

const RESULT_NOT_FOUND = 23;

function open(type: string, object: Readonly<Record<string, Uint8Array>>): OmapiRequest {
  return { operation: OMAPI_OPERATIONS.open, handle: 0, message: valuesOf({ type: omapiText(type) }), object: valuesOf(object) };
}

/** `update` in the message asks for the change to be written as well. */
function update(handle: number, object: Readonly<Record<string, Uint8Array>>): OmapiRequest {
  const message = valuesOf({ update: omapiNumber(1) });
  return { operation: OMAPI_OPERATIONS.update, handle, message, object: valuesOf(object) };
}

function valuesOf(values: Readonly<Record<string, Uint8Array>>): OmapiValues {
  return new Map(Object.entries(values));
}
